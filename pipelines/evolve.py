"""`python -m pipelines.evolve`: run the next cycles of some lines in this process.

It goes through Dagster, so that runs, checks and partitions are there to look at afterwards. Seeds first where cycle 0001 is not sealed, then
`--cycles` more cycles of each line, from the first that is not sealed yet: killed at any point and started again, it goes on. No daemon and no
webserver is needed; Dagster's log goes to `$DAGSTER_HOME/logs/`.

Exit codes: 0 all cycles are sealed; 1 a blocking check judged a cycle bad; 2 wrong usage or input; 3 our machinery failed. `evolake run` calls this.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import uuid
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import dagster as dg
from rich.console import Console

from assets.line import Line, register_keys
from evolake import settings as settings_module
from evolake.errors import EvolakeError, InputError, MachineryError
from evolake.lake import Lake
from evolake.report.health import examine, summary
from pipelines.closing import closing_lines
from pipelines.home import home_from_environment
from pipelines.line_state import IN_PROCESS_TAG, bury_dead_runs, next_cycle
from pipelines.progress import Progress
from pipelines.runlog import listening, run_config
from resources.locks import hold_line, release_lines

JUDGED_BAD, WRONG_INPUT, MACHINERY_FAILED = 1, 2, 3


@dataclass
class Outcome:
    """What has been done, for the last line and the exit code."""

    sealed: dict[str, list[str]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    exit_code: int = 0
    reason: str = ""
    run_id: str = ""

    def summary(self) -> dict[str, object]:
        """The object that `--json` prints."""
        verdict = {0: "sealed", JUDGED_BAD: "blocked"}.get(self.exit_code, "failed")
        return {"verdict": verdict, "cycles": self.sealed, "reason": self.reason, "run_id": self.run_id}


@dataclass(frozen=True)
class Stage:
    """What runs are made with: the definitions, Dagster's instance and its home, the lake, and where progress is shown."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance
    home: Path
    lake: Lake
    progress: Progress


def choose(names: str, lines: Sequence[Line]) -> list[Line]:
    """The lines that `names` (comma-separated, or `all`) means.

    Raises:
        InputError: a name that is no line.
    """
    by_name = {line.name: line for line in lines}
    wanted = list(by_name) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in by_name:
            raise InputError(f"no line named {name!r}", wanted=f"all, or some of: {', '.join(by_name) or '(no line is built)'}", do="see --help")
    if not wanted:
        raise InputError("no line to run", got=repr(names), wanted=f"all, or some of: {', '.join(by_name) or '(no line is built)'}")
    return [by_name[name] for name in wanted]


def runnable(chosen: Sequence[Line], names: str, progress: Progress, *, require_all: bool) -> list[Line]:
    """The lines of `chosen` that this machine has everything for. With `all`, the others are skipped and said so; by name, they are an error.

    Raises:
        MachineryError: something is missing for a line that was named, or nothing may be skipped (EVOLAKE_REQUIRE_ALL), or no line is left.
    """
    left = []
    for line in chosen:
        if (lack := line.missing()) is None:
            left.append(line)
        elif names == "all" and not require_all and len(chosen) > 1:
            progress.say(f"{line.name}: skipped. {lack}")
        else:
            raise MachineryError(f"the line {line.name!r} cannot run here: {lack}", do="evolake doctor shows what is missing")
    return left


def evolve(stage: Stage, lines: Sequence[Line], how_many: int) -> Outcome:
    """Run `how_many` more cycles of each line, a cycle of each in turn. Stops at the first run that fails."""
    outcome = Outcome({line.name: [] for line in lines})
    if told := summary(examine(stage.lake.root, fast=True)):  # an earlier process that was killed may have left something unfinished
        stage.progress.say(f"the lake is not as it was written: {told}")
    for line in lines:
        for run_id in bury_dead_runs(stage.instance, stage.lake, line):
            stage.progress.say(f"run {run_id} of an earlier process was cut off; its cycle runs again")
        if next_cycle(stage.lake, line) is None and not run(stage, line, None, outcome):
            return outcome
    for _ in range(how_many):
        for line in lines:
            cycle = next_cycle(stage.lake, line)
            if cycle is None:
                raise EvolakeError(f"the seeds of line {line.name!r} ran, yet cycle 0001 is not sealed", do="see the run in the UI (make dev)")
            register_keys(stage.instance, [cycle])
            if not run(stage, line, cycle, outcome):
                return outcome
            outcome.sealed[line.name].append(cycle)
    return outcome


def run(stage: Stage, line: Line, cycle: str | None, outcome: Outcome) -> bool:
    """One run, of a cycle or (None) of the seeds; whether it succeeded, else why is in `outcome`.

    Holds the line from before the run is recorded until after it has ended; see `bury_dead_runs`.
    """
    job = stage.definitions.resolve_job_def(line.job_name if cycle else line.seeds_job_name)
    run_id = str(uuid.uuid4())
    outcome.runs.append(run_id)
    log = stage.home / "logs" / f"{line.name}-{cycle or 'seeds'}-{run_id[:8]}.log"
    hold_line(stage.lake, line.name, run_id)
    try:
        with stage.progress.stage(f"{line.name}: {'cycle ' + cycle if cycle else 'seeds'}"), listening(stage.progress.on_event):
            result = job.execute_in_process(
                instance=stage.instance, partition_key=cycle, run_id=run_id, raise_on_error=False, run_config=run_config(log),
                tags={IN_PROCESS_TAG: str(os.getpid())},
            )
    finally:
        release_lines(run_id)
    if not result.success:
        outcome.run_id = run_id
        outcome.exit_code, outcome.reason = explain(result)
    return result.success


def explain(result: dg.ExecuteInProcessResult) -> tuple[int, str]:
    """Exit code and reason of a failed run: 1 where a blocking check failed, else 2 or 3 by what was raised."""
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed and evaluation.blocking:
            name = f"{evaluation.check_name} of {evaluation.asset_key.to_user_string()}"
            return JUDGED_BAD, f"check {name} failed: {evaluation.description or 'see its metadata'}"
    for event in result.all_events:
        if event.is_step_failure:
            return _blame(event)
    return MACHINERY_FAILED, "the run failed before its first step"


def _blame(event: dg.DagsterEvent) -> tuple[int, str]:
    failure = event.step_failure_data
    where = (event.step_key or "").replace("__", "/", 1)
    if failure.user_failure_data and failure.user_failure_data.description:
        return MACHINERY_FAILED, f"{where}: {failure.user_failure_data.description}"
    error = failure.error
    while error is not None and error.cause is not None:
        error = error.cause
    is_input = error is not None and error.cls_name == "InputError"
    return (WRONG_INPUT if is_input else MACHINERY_FAILED), f"{where}: {error.message.strip() if error else 'no error recorded'}"


@click.command()
@click.option("--lines", "names", default="all", show_default=True, help="Comma-separated lines, or all.")
@click.option("--cycles", "how_many", default=1, show_default=True, type=click.IntRange(min=0), help="Cycles to add to each line; 0: seeds only.")
@click.option("--profile", help="Sizes and limits (default: EVOLAKE_PROFILE).")
@click.option("--backend", type=click.Choice(["operators", "model"]), help="Who serves the roles (default: EVOLAKE_BACKEND).")
@click.option("--seed", type=click.IntRange(min=0), help="Root seed (default: EVOLAKE_SEED).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
@click.option("--definitions", "module", default="pipelines.definitions", hidden=True, help="Module with `defs` and `lines` (for tests).")
def main(names: str, how_many: int, profile: str | None, backend: str | None, seed: int | None, as_json: bool, module: str) -> int:
    """Run the next cycles of some lines; goes on where an earlier run stopped."""
    for name, value in (("EVOLAKE_PROFILE", profile), ("EVOLAKE_BACKEND", backend), ("EVOLAKE_SEED", seed)):
        if value is not None:
            os.environ[name] = str(value)
    settings = settings_module.load()
    home = home_from_environment()
    loaded = importlib.import_module(module)
    lines = choose(names, [built.line for built in loaded.lines])
    progress = Progress(Console(), quiet=as_json)
    lines = runnable(lines, names, progress, require_all=settings.require_all)
    with warnings.catch_warnings(), dg.DagsterInstance.get() as instance:
        warnings.simplefilter("ignore", dg.PreviewWarning)
        lake = Lake(settings.lake)
        outcome = evolve(Stage(loaded.defs, instance, home, lake, progress), lines, how_many)
    for sentence in closing_lines(lake, outcome.sealed, outcome.runs):
        progress.say(sentence)
    if as_json:
        click.echo(json.dumps(outcome.summary()))
    elif outcome.exit_code:
        click.echo(f"{outcome.reason}\n  log: {home / 'logs'} ; or look at run {outcome.run_id} in the UI (make dev)", err=True)
    return outcome.exit_code


def entry(arguments: Sequence[str] | None = None) -> int:
    """`main` with evolake's exit codes: errors are printed, never a traceback of ours, save for a fault nobody foresaw."""
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        return int(main(args=arguments, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return WRONG_INPUT
    except (click.Abort, KeyboardInterrupt):
        return _fail("stopped; start it again to go on", MACHINERY_FAILED, as_json)
    except EvolakeError as error:
        return _fail(str(error), error.exit_code, as_json)
    except Exception as error:
        traceback.print_exc()
        return _fail(f"{type(error).__name__}: {error}", MACHINERY_FAILED, as_json)


def _fail(reason: str, code: int, as_json: bool) -> int:
    click.echo(reason, err=True)
    if as_json:
        click.echo(json.dumps(Outcome(exit_code=code, reason=reason).summary()))
    return code


if __name__ == "__main__":
    sys.exit(entry())
