"""`python -m pipelines.evolve`: run the next cycles of some lines.

It goes through Dagster, so that runs, checks and partitions are there to look at afterwards. Seeds first
where cycle 0001 is not sealed, then `--cycles` more cycles of each line, from the first that is not sealed
yet: killed at any point and started again, it continues. Several lines run side by side, each in its own
process; a line that fails stops, and the others continue. No daemon and no webserver is needed; Dagster's log
goes to `$DAGSTER_HOME/logs/`.

Exit codes: 0 all cycles are sealed; 1 a blocking check judged a cycle bad; 2 wrong usage or input; 3 our
machinery failed. `evolake run` calls this.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import click
import dagster as dg

from assets.line import Line
from evolake import settings as settings_module
from evolake.agents.preflight import check_endpoint
from evolake.cli.ending import expected
from evolake.errors import EvolakeError, InputError, MachineryError
from evolake.lake import Lake
from evolake.lines import lines as registered
from evolake.project import UI
from evolake.report.health import examine, summary
from evolake.report.outcome import failed_proposals
from evolake.settings import Settings
from evolake.terminal import say, say_json, say_text, say_usage, visible_console
from pipelines.events import Event, HeadStart, Tell, Turns
from pipelines.home import home_from_environment
from pipelines.one_line import Stage, evolve, measuring
from pipelines.outcome import MACHINERY_FAILED, STOPPED, WRONG_INPUT, Outcome, together
from pipelines.progress import Progress
from pipelines.schedules import leave_bad_cron_out
from pipelines.side_by_side import SideBySide, end_with_parent, niceness, order_of, parent
from resources.warm import between_runs

NEXT = "evolake status{lake}, or evolake report{lake} --out report.html"


def closing_lines(lake: Lake, sealed: Mapping[str, Sequence[str]], runs: Sequence[str]) -> list[str]:
    """Return the last sentences of a run.

    Args:
        lake: as the run left it.
        sealed: line -> cycles that this run sealed, in order.
        runs: ids of all runs that it made, the failed ones too: what rows of the lake name as their `run_id`.
    """
    done = _cycles(sealed)
    return [
        *done,
        *failed_proposals(lake, sealed),
        _spent(lake, sealed, runs),
        *([_next(lake)] if done else []),
    ]


def _next(lake: Lake) -> str:
    """Return what to do next; with the lake, where this process was given one that a shell may not have."""
    given = f" --lake {quote(str(lake.root))}" if os.environ.get("EVOLAKE_LAKE") else ""
    return f"next: {NEXT.format(lake=given)}"


def _cycles(sealed: Mapping[str, Sequence[str]]) -> list[str]:
    """How far each line came, in one sentence; none if no cycle was sealed."""
    parts = [
        f"{line} {cycles[0]}" + (f" to {cycles[-1]}" if len(cycles) > 1 else "")
        for line, cycles in sealed.items()
        if cycles
    ]
    return [f"sealed: {', '.join(parts)}"] if parts else []


def _spent(lake: Lake, sealed: Mapping[str, Sequence[str]], runs: Sequence[str]) -> str:
    """Return what was asked of a model, what it took and what the budget leaves, with the cycle that each
    line stopped in."""
    from evolake.agents.budget import spent_sentence

    cycles = {line: sorted({*done, *lake.seals.cycles(line)[-1:]}) for line, done in sealed.items()}
    return spent_sentence(settings_module.load(), lake.root, cycles, runs)


PART = "--as-part"


def choose(names: str, lines: Sequence[Line]) -> list[Line]:
    """Return the lines that `names` (comma-separated, or `all`) means.

    Raises:
        InputError: a name that is no line.
    """
    by_name = {line.name: line for line in lines}
    wanted = list(by_name) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in by_name:
            raise InputError(
                f"no line named {name!r}",
                wanted=f"all, or some of: {', '.join(by_name) or '(no line is built)'}",
                do="see --help",
            )
    if not wanted:
        raise InputError(
            "no line to run",
            got=repr(names),
            wanted=f"all, or some of: {', '.join(by_name) or '(no line is built)'}",
        )
    return [by_name[name] for name in dict.fromkeys(wanted)]


def runnable(
    chosen: Sequence[Line], names: str, say: Callable[[str], None], *, require_all: bool
) -> list[Line]:
    """Return the lines of `chosen` that this machine has everything for and that have something to do. With
    `all`, the others are skipped and said so; by name, they are an error.

    Raises:
        InputError: there is nothing to do for a line that was named.
        MachineryError: something is missing for a line that was named, or nothing may be skipped
            (EVOLAKE_REQUIRE_ALL), or no line is left.
    """
    left = []
    for line in chosen:
        if nothing := line.idle():
            if names != "all":
                raise InputError(f"the line {line.name!r} has nothing to do", got=nothing)
            say(f"{line.name}: skipped. {nothing}")
        elif (lack := line.missing()) is None:
            left.append(line)
        elif names == "all" and not require_all and len(chosen) > 1:
            say(f"{line.name}: skipped. {lack}")
        else:
            raise MachineryError(
                f"the line {line.name!r} cannot run here: {lack}", do="evolake doctor shows what is missing"
            )
    return left


@click.command()
@click.option("--lines", "names", default="all", show_default=True, help="Comma-separated lines, or all.")
@click.option(
    "--cycles",
    "how_many",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Cycles to add to each line; 0: seeds only.",
)
@click.option("--profile", help="Sizes and limits (default: EVOLAKE_PROFILE, else that of the lake).")
@click.option(
    "--backend",
    type=click.Choice(["operators", "model"]),
    help="Who serves the roles (default: EVOLAKE_BACKEND).",
)
@click.option("--seed", type=click.IntRange(min=0), help="Root seed (default: EVOLAKE_SEED).")
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    help="Lines that run side by side (default: one more than there are cores).",
)
@click.option("-v", "--verbose", is_flag=True, help="A line for every asset and check.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
@click.option(
    "--definitions",
    "module",
    default="pipelines.definitions",
    hidden=True,
    help="Module with `defs` and `lines` (for tests).",
)
@click.option(
    PART,
    "as_part",
    is_flag=True,
    hidden=True,
    help="Report to the process that started this one, see `side_by_side`.",
)
def main(
    names: str,
    how_many: int,
    profile: str | None,
    backend: str | None,
    seed: int | None,
    at_once: int | None,
    verbose: bool,
    as_json: bool,
    module: str,
    as_part: bool,
) -> int:
    """Run the next cycles of some lines; continues where an earlier run stopped."""
    for name, value in (("EVOLAKE_PROFILE", profile), ("EVOLAKE_BACKEND", backend), ("EVOLAKE_SEED", seed)):
        if value is not None:
            os.environ[name] = str(value)
    settings, named = settings_module.load(), os.environ.get("DAGSTER_HOME")
    if how_many and not as_part:
        check_endpoint(settings)
    leave_bad_cron_out()
    loaded = importlib.import_module(module)
    lake, lines = Lake(settings.require_lake()), choose(names, [built.line for built in loaded.lines])
    work = Work(settings, lake, home_from_environment(lake), module, loaded.defs, how_many)
    if as_part:
        end_with_parent()
        parent().leave(work.here(lines, parent().tell, Turns(work.home / "turns")))
        return 0
    console = visible_console()
    before = Progress(console, quiet=as_json)
    for sentence in _opening(work, named):
        before.say(sentence)
    lines = runnable(lines, names, before.say, require_all=settings.require_all)
    if how_many and not as_json and (sentence := _forecast(settings, lake, lines)):
        before.say(sentence)
    # prompts of one line's champion serve all others
    many = 1 if settings.system_prompts else min(at_once or (os.cpu_count() or 1) + 1, len(lines))
    with Progress(console, [line.name for line in lines], quiet=as_json, verbose=verbose) as progress:
        # an earlier process that was killed may have left something unfinished
        if report := summary(examine(lake.root, fast=True)):
            progress.say(f"the lake is not as it was written: {report}")
        outcome = work.apart(lines, many, progress.show) if many > 1 else work.here(lines, progress.show)
    for sentence in closing_lines(lake, outcome.sealed, outcome.runs):
        progress.say(sentence)
    _tell_end(outcome, work.home, as_json)
    return outcome.exit_code


@dataclass(frozen=True)
class Work:
    """What the lines are run with. module: where `definitions` is; another process loads it again."""

    settings: Settings
    lake: Lake
    home: Path
    module: str
    definitions: dg.Definitions
    cycles: int

    def here(self, lines: Sequence[Line], tell: Tell, turns: Turns | None = None) -> Outcome:
        """Run the lines in this process, one after the other; what fails in one is no reason for another to
        stop."""

        def of(line: Line) -> Outcome:
            try:
                return evolve(stage, line, self.cycles)
            except EvolakeError as error:
                return Outcome({line.name: []}, exit_code=error.exit_code, reason=str(error))

        with warnings.catch_warnings(), dg.DagsterInstance.get() as instance, between_runs():
            warnings.simplefilter("ignore", dg.PreviewWarning)
            profile = self.settings.profile
            stage = Stage(self.definitions, instance, self.home, self.lake, profile, tell, turns)
            return together([of(line) for line in lines])

    def apart(self, lines: Sequence[Line], many: int, tell: Tell) -> Outcome:
        """Run the lines side by side, so many at a time. SIGTERM ends them as an interrupt does."""
        known = registered()
        weights = {line.name: known[line.name].weight if line.name in known else 1.0 for line in lines}
        after = _after(self.settings, lines)
        order = order_of(weights, after)
        if not after.get(order[1]) and not measuring(self.definitions, order[1]):
            tell = _both(HeadStart(self.home / "turns", order[1]).tell, tell)
        options = ["--cycles", str(self.cycles), "--definitions", self.module]
        # makes the tables of an empty home: two processes that make them at the same time can collide
        with dg.DagsterInstance.get() as instance:
            instance.get_runs(limit=1)
            instance.get_dynamic_partitions("")
        with _terminated_as_interrupted():
            side = SideBySide(options, many, after, tell, self.home / "logs", niceness(weights))
            return side.run(order)


def _opening(work: Work, named: str | None) -> Iterator[str]:
    """Yield what a person should know before anything runs. named: the DAGSTER_HOME that was set."""
    root = work.settings.require_lake()
    yield f"profile {work.settings.profile} ({settings_module.chosen_profile(root)[1]}), lake {root}"
    if str(work.home) != named:
        yield f"DAGSTER_HOME {named} is another lake's: this one has its runs in {work.home}"


def _tell_end(outcome: Outcome, home: Path, as_json: bool) -> None:
    """Say how the run ended: as JSON, or only if it did not end well."""
    if as_json:
        say_json(outcome.summary())
    elif outcome.reason == STOPPED:
        say(STOPPED, err=True)
    elif outcome.exit_code:
        run = f" ; or look at run {outcome.run_id} in the UI ({UI})" if outcome.run_id else ""
        say_text(f"{outcome.reason}\n  log: {home / 'logs'}{run}", err=True)


def _forecast(settings: Settings, lake: Lake, lines: Sequence[Line]) -> str:
    """Return what a cycle will cost by a model, in one line; "" if none is called. Operators do not wait for
    its imports."""
    if settings.backend != "model" and not settings.model_base_url:
        return ""
    from evolake.agents.forecast import forecast_sentence, forecasts

    names = [line.name for line in lines if line.name in registered()]
    return forecast_sentence(forecasts(settings, lake.root, names)) if names else ""


def _after(settings: Settings, lines: Sequence[Line]) -> dict[str, Sequence[str]]:
    """Line -> lines whose results it reads under these settings."""
    specs = {line.name: registered().get(line.name) for line in lines}
    return {name: spec.after.load()(settings) for name, spec in specs.items() if spec and spec.after}


def _both(first: Tell, second: Tell) -> Tell:
    def tell(event: Event) -> None:
        first(event)
        second(event)

    return tell


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def entry(arguments: Sequence[str] | None = None) -> int:
    """Run `main` with evolake's exit codes: errors are printed, never a traceback of ours, save for a fault
    nobody foresaw."""
    given = sys.argv[1:] if arguments is None else arguments
    if PART in given:
        parent()
    if PART in given:
        fail = _fail_part
    elif "--json" in given:
        fail = _fail_json
    else:
        fail = _fail
    try:
        return int(main(args=arguments, standalone_mode=False) or 0)
    except click.ClickException as error:
        say_usage(error)
        return WRONG_INPUT
    except (click.Abort, KeyboardInterrupt):
        return fail(STOPPED, MACHINERY_FAILED)
    except Exception as error:
        if summary := expected(error):
            return fail(str(summary), summary.exit_code)
        traceback.print_exc()
        return fail(f"{type(error).__name__}: {error}", MACHINERY_FAILED)


def _fail(reason: str, code: int) -> int:
    say_text(f"error: {reason}" if code == WRONG_INPUT else reason, err=True)
    return code


def _fail_json(reason: str, code: int) -> int:
    say_json(Outcome(exit_code=code, reason=reason).summary())
    return _fail(reason, code)


def _fail_part(reason: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):  # whoever started this process is gone
        parent().leave(Outcome(exit_code=code, reason=reason))
    return code


if __name__ == "__main__":
    # A spawned process imports the main module again, by its name or file, and so all of Dagster: it needs
    # nothing of this one.
    __spec__ = None
    del __file__
    sys.exit(entry())
