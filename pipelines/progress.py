"""Progress of cycles on a screen: one line per asset when it is done, and on a terminal the one at work below them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from rich.console import Console
from rich.status import Status


class Progress:
    """Prints plain lines; on a terminal also a spinner with the asset at work. Nothing is printed where `quiet`."""

    def __init__(self, console: Console, *, quiet: bool = False):
        self._console, self._quiet = console, quiet
        self._status: Status | None = None
        self._started: dict[str, float] = {}
        self._rows: dict[str, int | None] = {}
        self._checks: dict[str, list[str]] = {}

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """One run: its heading, its assets, and how long it took."""
        self.say(title)
        started = time.monotonic()
        if self._console.is_terminal and not self._quiet:
            self._status = self._console.status("starting")
            self._status.start()
        try:
            yield
        finally:
            if self._status:
                self._status.stop()
                self._status = None
        self.say(f"  done in {time.monotonic() - started:.1f} s")

    def say(self, text: str) -> None:
        """One line."""
        if not self._quiet:
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def on_event(self, event: dg.DagsterEvent) -> None:
        """A Dagster event of the run that is shown."""
        step = event.step_key or ""
        if event.event_type == dg.DagsterEventType.STEP_START:
            self._started[step] = time.monotonic()
            if self._status:
                self._status.update(f"{_asset_name(step)} ...")
        elif event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION:
            self._materialized(step, event.step_materialization_data.materialization)
        elif event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            judged = event.asset_check_evaluation_data
            ending = "passed" if judged.passed else "FAILED" if judged.blocking else f"WARNS: {judged.description}"
            self.say(f"  {judged.asset_key.to_user_string()}: check {judged.check_name} {ending}")
        elif event.event_type in (dg.DagsterEventType.STEP_SUCCESS, dg.DagsterEventType.STEP_FAILURE) and step in self._rows | self._failed(event):
            seconds = time.monotonic() - self._started.get(step, time.monotonic())
            rows = self._rows.pop(step, None)
            ending = "FAILED" if event.event_type == dg.DagsterEventType.STEP_FAILURE else "" if rows is None else f"{rows} rows"
            self.say(f"  {_asset_name(step):<40} {ending:>12} {seconds:8.1f} s")

    def _failed(self, event: dg.DagsterEvent) -> dict[str, None]:
        return {event.step_key or "": None} if event.event_type == dg.DagsterEventType.STEP_FAILURE else {}

    def _materialized(self, step: str, materialization: dg.AssetMaterialization) -> None:
        if step != materialization.asset_key.to_python_identifier():
            return
        rows = materialization.metadata.get("dagster/row_count")
        self._rows[step] = int(rows.value) if rows is not None else None  # pyright: ignore[reportArgumentType]


def _asset_name(step: str) -> str:
    return step.replace("__", "/", 1)
