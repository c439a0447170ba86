"""The next cycles of one line, in this process, through Dagster."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from assets.line import IN_PROCESS_TAG, MEASURES_TIME, SAID_OF_CYCLE, Line, register_keys
from assets.progress import reported_to
from evolake import settings as settings_module
from evolake.errors import EvolakeError
from evolake.lake import Lake
from evolake.project import UI
from evolake.report.outcome import outcome_of
from pipelines.burial import bury_dead_runs
from pipelines.cycles import register_known
from pipelines.estimate import PROFILE_TAG, seconds_left, size_tags, step_seconds
from pipelines.events import SEEDS, Event, Tell, Turns
from pipelines.line_state import CONTINUES_TAG, lacks_its_seal, next_cycle
from pipelines.outcome import Outcome, explain, was_interrupted
from pipelines.runlog import listening, run_config
from resources.lake import LAKE_TAG
from resources.locks import hold_line, release_lines

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
        """Tell a Dagster event of the run to those who listen."""
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


@dataclass(frozen=True)
class Stage:
    """What runs are made with: the definitions, Dagster's instance and its home, the lake, the profile, who
    is shown, and turns among processes."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance
    home: Path
    lake: Lake
    profile: str
    tell: Tell
    turns: Turns | None = None


def evolve(stage: Stage, line: Line, how_many: int) -> Outcome:
    """Run `how_many` more cycles of a line, its seeds first where cycle 0001 is not sealed. Stops at the
    first run that fails."""
    outcome = Outcome({line.name: []})
    for run_id in bury_dead_runs(stage.instance, stage.lake, [line]):
        stage.tell(
            Event(
                line.name,
                "said",
                text=f"{line.name}: run {run_id} of an earlier process was cut off; its cycle runs again",
            )
        )
    register_known(stage.instance, stage.lake, line.name)
    if next_cycle(stage.lake, line) is None and not run(stage, line, None, SEEDS, how_many, outcome):
        return outcome
    for number in range(1, how_many + 1):
        cycle = next_cycle(stage.lake, line)
        if cycle is None:
            raise EvolakeError(
                f"the seeds of line {line.name!r} ran, yet cycle 0001 is not sealed",
                do=f"see the run in the UI ({UI})",
            )
        register_keys(stage.instance, line.name, [cycle])
        counted = f"cycle {number} of {how_many}" + (f" ({cycle})" if int(cycle) != number else "")
        if not run(stage, line, cycle, counted, how_many - number, outcome):
            return outcome
        outcome.sealed[line.name].append(cycle)
    return outcome


def run(
    stage: Stage,
    line: Line,
    cycle: str | None,
    what: str,
    cycles_after: int,
    outcome: Outcome,
    tags: Mapping[str, str] | None = None,
    assets: Sequence[str] = (),
) -> bool:
    """One run, of a cycle or (None) of the seeds; whether it succeeded, else why is in `outcome`. tags:
    further ones of the run. assets: only these, of the cycle or (None) of those without cycles.

    Holds the line from before the run is recorded until after it has ended; see `bury_dead_runs`.
    """
    job = stage.definitions.resolve_job_def(line.job_name if cycle else line.seeds_job_name)
    run_id = str(uuid.uuid4())
    outcome.runs.append(run_id)
    log = stage.home / "logs" / f"{line.name}-{cycle or 'seeds'}-{run_id[:8]}.log"
    sizes = size_tags(settings_module.load(), line.name) | {PROFILE_TAG: stage.profile}
    of_run, of_cycle = (step_seconds(stage.instance, name, sizes) for name in (job.name, line.job_name))

    rest = None
    if cycle and not assets:
        rest = lacks_its_seal(stage.instance, stage.definitions, stage.lake, line, cycle, sizes)
    if rest:
        said = f"{line.name}: run {rest} did all of cycle {cycle} but its seal; it continues there"
        stage.tell(Event(line.name, "said", text=said))

    def left(done: Collection[str]) -> float | None:
        return seconds_left(of_run, done, of_cycle, cycles_after)

    watch = Watch(
        line.name,
        what,
        stage.tell,
        left,
        stage.turns,
        measuring(stage.definitions, line.name) if stage.turns else (),
    )
    hold_line(stage.lake, line.name, run_id)
    try:
        stage.tell(Event(line.name, "began", what, left_s=left(())))
        with listening(watch.on_event), reported_to(watch.on_progress):
            result = job.execute_in_process(
                instance=stage.instance,
                partition_key=cycle,
                run_id=run_id,
                raise_on_error=False,
                run_config=run_config(log),
                tags={
                    IN_PROCESS_TAG: str(os.getpid()),
                    LAKE_TAG: stage.lake.id,
                    **sizes,
                    **(tags or {}),
                    **({CONTINUES_TAG: rest} if rest else {}),
                },
                asset_selection=[line.key(name) for name in ([line.closing] if rest else assets)] or None,
            )
    finally:
        release_lines(run_id)
        if stage.turns:
            stage.turns.leave()
    if result.success:
        text = "; ".join(
            filter(None, [outcome_of(stage.lake, line.name, cycle) if cycle else "", *_said(result)])
        )
        stage.tell(Event(line.name, "ended", what, text, _seconds(stage.instance, run_id)))
    else:
        outcome.run_id = run_id
        outcome.exit_code, outcome.reason = explain(result)
    return result.success


def _said(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return what assets of the run say of the cycle."""
    results = [
        event.materialization.metadata.get(SAID_OF_CYCLE)
        for event in result.filter_events(lambda event: event.is_step_materialization)
    ]
    return [str(text.value) for text in results if text is not None]


def measuring(definitions: dg.Definitions, line: str) -> set[str]:
    """Return steps of the line that measure time."""
    specs = definitions.resolve_all_asset_specs()
    return {
        spec.key.to_python_identifier()
        for spec in specs
        if spec.key.path[0] == line and spec.metadata.get(MEASURES_TIME)
    }


def _seconds(instance: dg.DagsterInstance, run_id: str) -> float:
    """How long a run took, as Dagster recorded it."""
    record = instance.get_run_record_by_id(run_id)
    return record.end_time - record.start_time if record and record.start_time and record.end_time else 0.0
