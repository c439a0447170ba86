"""A run as its line tells it: Dagster's events in, `Event`s out; before each step its turn is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import dagster as dg

from pipelines.events import Event, Tell
from pipelines.outcome import was_interrupted
from pipelines.turns import Turns

ENDINGS = (dg.DagsterEventType.STEP_SUCCESS, dg.DagsterEventType.STEP_FAILURE)


@dataclass
class Watch:
    """Listens to one run of a line.

    what: the run in words. left: steps that have ended -> seconds left, or None. turns: None if no line runs
    at the same time. alone: steps that measure time.
    """

    line: str
    what: str
    tell: Tell
    left: Callable[[Collection[str]], float | None]
    turns: Turns | None = None
    alone: Collection[str] = ()
    _started: dict[str, float] = field(default_factory=dict)
    _step: str = ""
    _rows: dict[str, int | None] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    def on_event(self, event: dg.DagsterEvent) -> None:
        """Print a Dagster event of the run."""
        step = event.step_key or ""
        if event.event_type == dg.DagsterEventType.STEP_START:
            if self.turns:
                self.turns.enter(alone=step in self.alone)
            self._started[step] = time.monotonic()
            self._step = step.replace("__", "/", 1).partition("/")[2] or step
            self._say("step", self._step)
        elif event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION:
            self._materialized(step, event.step_materialization_data.materialization)
        elif event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            judged = event.asset_check_evaluation_data
            if judged.passed:
                ending = "passed"
            elif judged.blocking:
                ending = "FAILED"
            else:
                ending = f"WARNS: {judged.description}"
            self._say(
                "detail" if judged.passed else "said",
                f"  {judged.asset_key.to_user_string()}: check {judged.check_name} {ending}",
            )
        elif event.event_type in ENDINGS:
            failed = event.event_type == dg.DagsterEventType.STEP_FAILURE
            self._ended(step, failed=failed, stopped=failed and was_interrupted(event))

    def on_progress(self, text: str) -> None:
        """How far the asset running is."""
        self._say("working", f"{self._step}, {text}")

    def _ended(self, step: str, *, failed: bool, stopped: bool) -> None:
        if self.turns:
            self.turns.leave()
        self._done.add(step)
        if step not in self._rows and not failed:
            return
        rows = self._rows.pop(step, None)
        if stopped:
            ending = "stopped"
        elif failed:
            ending = "FAILED"
        elif rows is None:
            ending = ""
        else:
            ending = f"{rows} rows"
        seconds = time.monotonic() - self._started.get(step, time.monotonic())
        self._say(
            "said" if failed and not stopped else "detail",
            f"  {step.replace('__', '/', 1):<40} {ending:>12} {seconds:8.1f} s",
        )

    def _materialized(self, step: str, materialization: dg.AssetMaterialization) -> None:
        if step == materialization.asset_key.to_python_identifier():
            rows: Mapping[str, dg.MetadataValue] = materialization.metadata
            count = rows.get("dagster/row_count")
            self._rows[step] = int(count.value) if count is not None else None  # pyright: ignore[reportArgumentType]

    def _say(self, kind: str, text: str) -> None:
        self.tell(Event(self.line, kind, self.what, text, left_s=self.left(self._done)))  # pyright: ignore[reportArgumentType]
