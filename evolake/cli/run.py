"""`evolake run`, `evolake status` and `evolake cycles`: start cycles through Dagster, forecast what one costs
(`--dry-run`), say where things are, and list the cycles that Dagster's UI offers as partitions.

The library never imports the orchestrator: `run` starts the module `pipelines.evolve` as its own process and
passes its exit code on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from evolake import project
from evolake import settings as settings_module
from evolake.agents.forecast import LineForecast, RoleForecast, forecasts, total_of
from evolake.cli.ending import Stopped
from evolake.commands import AS_JSON, LAKE, REPLAY_ONLY
from evolake.errors import InputError
from evolake.lines import lines
from evolake.settings import Settings
from evolake.terminal import columns_text, say, say_json, say_text

NOTHING_YET = "The lake {lake} holds no cycle yet. Start with: evolake run --cycles 3 --profile demo"
TABLE_WIDTH = 120
"""Characters of a line of the table if the output is no terminal."""
PATIENCE_S = 15.0
"""How long the process that runs the cycles may take to end after SIGTERM; it gives those of its lines
less."""
LEGEND = """
evaluations: runs, judged replies or judged versions, as each line counts them.
seconds: on the clock, over all runs of a line; lines that ran at the same time shared the processor."""


@click.command(short_help="Run evolution cycles; continue where a run stopped.")
@click.option(
    "--cycles",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many cycles to add to each line.",
)
@click.option(
    "--lines", default="all", show_default=True, help="Comma-separated lines, or all that are built."
)
@click.option(
    "--profile",
    help=(
        "Sizes and limits: demo, laptop, gpu or cluster (default: EVOLAKE_PROFILE, else that of the lake, "
        "else laptop)."
    ),
)
@click.option(
    "--backend",
    type=click.Choice(["operators", "model"]),
    help="Who serves the roles (default: EVOLAKE_BACKEND, else operators).",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Root seed of the run (default: EVOLAKE_SEED, else 0)."
)
@REPLAY_ONLY
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    help="Lines that run side by side (default: one more than there are cores).",
)
@click.option("-v", "--verbose", is_flag=True, help="A line of text for every asset and check.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print a forecast of a cycle with the model backend (calls, tokens, usd, budget); start nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: one JSON object on standard output.")
@click.argument("line", nargs=-1)
def run(
    cycles: int,
    lines: str,
    profile: str | None,
    backend: str | None,
    seed: int | None,
    replay_only: bool,
    at_once: int | None,
    verbose: bool,
    dry_run: bool,
    as_json: bool,
    line: tuple[str, ...],
) -> int:
    """Run evolution cycles; continues where an earlier run stopped. LINE: as --lines, one word each."""
    from evolake.agents import check_backend
    from evolake.compute import check_compute
    from evolake.lake.inventory import check_ready

    given = {
        "EVOLAKE_PROFILE": profile,
        "EVOLAKE_BACKEND": backend,
        "EVOLAKE_SEED": seed,
        "EVOLAKE_REPLAY_ONLY": replay_only or None,
    }
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    settings = settings_module.load()
    os.environ["DAGSTER_HOME"] = str(project.home(settings.require_lake()))
    lines = _chosen_lines(lines, line)
    if dry_run:
        return print_forecast(
            settings, [] if lines == "all" else [name.strip() for name in lines.split(",")], as_json=as_json
        )
    if as_json:
        raise InputError(
            "--json prints a forecast", wanted="--dry-run --json", do="add --dry-run, or leave --json out"
        )
    check_backend(settings)
    check_ready(
        settings.require_lake(), None if lines == "all" else [name.strip() for name in lines.split(",")]
    )
    check_compute(settings)
    command = [*project.command("pipelines.evolve"), "--lines", lines, "--cycles", str(cycles)]
    command += [*(["--at-once", str(at_once)] if at_once else []), *(["--verbose"] if verbose else [])]
    with subprocess.Popen(command, env=os.environ | {settings_module.WARNED: "1"}) as child:
        try:
            return child.wait()
        except (KeyboardInterrupt, Stopped) as signal:  # the child says so, in one sentence
            if isinstance(signal, Stopped):
                child.terminate()  # Ctrl-C goes to the child as well, SIGTERM to this process alone
            try:
                child.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:  # whatever it waits for: a run may be killed at any point
                child.kill()
                child.wait()
            return 143 if isinstance(signal, Stopped) else 130


def _chosen_lines(option: str, words: tuple[str, ...]) -> str:
    """Return the lines that an option and words name together. Raises InputError if both name some."""
    if words and option != "all":
        raise InputError(
            "lines are named twice",
            wanted="LINE or --lines",
            got=f"{' '.join(words)} and --lines {option}",
            do="leave one of them out",
        )
    return ",".join(words) or option


@click.command(short_help="Show each line's cycles, champion, counts and next step.")
@click.option(
    "--table",
    "as_table",
    is_flag=True,
    help="One row per line: best, start, gain with its interval, evaluations, seconds.",
)
@click.option(
    "--gains", "as_gains", is_flag=True, help="One sentence per line: what it gained, or a recorded result."
)
@LAKE
@AS_JSON
def status(as_table: bool, as_gains: bool, root: Path | None, as_json: bool) -> int:
    """Show the state of each line: sealed cycles, champion, counts, what to do next."""
    from evolake.report.artifacts import artifacts_of
    from evolake.report.standings import lake_status

    root = root or settings_module.load().require_lake()
    if as_gains:
        return _gains(root, as_json)
    if as_table:
        return _table(root, as_json)
    rows, damaged = lake_status(root)
    if as_json:
        parts = [{"table": table} | error.to_json() for table, error in damaged.items()]
        about = {
            "verdict": "damaged" if damaged else "ok",
            "lake": str(root),
            "profile": settings_module.chosen_profile(root)[0],
        }
        say_json(about | {"lines": rows, "damaged": parts})
        return 3 if damaged else 0
    for table, error in damaged.items():
        say(f"the table {table} is damaged: {error}", err=True)
    if not rows and not damaged:
        say(NOTHING_YET.format(lake=root))
        return 0
    name, chosen_by = settings_module.chosen_profile(root)
    say(f"profile {name} ({chosen_by})")
    for row in rows:
        say(
            f"{row['line']}: {row['sealed_cycles']} {'cycle' if row['sealed_cycles'] == 1 else 'cycles'} "
            f"done; next: {row['next_cycle']}"
        )
        champion = row["champion"] or (
            "not applicable" if artifacts_of(row["line"]).crowns_none else "none yet"
        )
        say(f"  artifacts: {row['accepted']} accepted, {row['blocked']} blocked; champion: {champion}")
        if row["gain"]:
            say(f"  gain: {row['gain']['text']}")
        if answers := row["answers"]:
            rest = "; the others count as unsolved" if answers["certified"] < answers["given"] else ""
            share = f"{answers['certified']:,} of {answers['given']:,}"
            say(f"  answers: {share} of measured runs rest on a checked model or a verified proof{rest}")
        for sentence in filter(None, (row["rules"], row["broken"])):
            say(f"  {sentence}")
    return 3 if damaged else 0


def _gains(root: Path, as_json: bool) -> int:
    """Print what each line gained, one sentence each, and where to look."""
    from evolake.lake import Lake
    from evolake.report.gained import LOOK, gains

    found = gains(Lake(root))
    if as_json:
        rows = [
            {"line": item.line, "gained": item.sentence, "recorded": item.recorded and vars(item.recorded)}
            for item in found
        ]
        say_json({"verdict": "ok", "lake": str(root), "gains": rows})
    elif not found:
        say(NOTHING_YET.format(lake=root))
    else:
        say_text("\n".join([*map(str, found), LOOK]))
    return 0


def _table(root: Path, as_json: bool) -> int:
    """Print the table of all lines. Exit code 3 if a table of the lake is damaged."""
    from evolake.lake import Lake
    from evolake.report.standings import as_table, standings

    rows = standings(Lake(root))
    if as_json:
        say_json({"verdict": "ok", "lake": str(root), "lines": [row.to_json() for row in rows]})
    elif not rows:
        say(NOTHING_YET.format(lake=root))
    else:
        say_text(
            as_table(
                rows,
                TABLE_WIDTH
                if not sys.stdout.isatty()
                else shutil.get_terminal_size((TABLE_WIDTH, 24)).columns,
            )
        )
        say_text(LEGEND)
    return 0


HEADS = (
    "line",
    "role",
    "calls at most",
    "probably",
    "tokens at most",
    "probably ",
    "usd at most",
    "probably  ",
)
"""Spaces tell columns of one name apart."""
WIDTH = 140
"""Characters of a line if the output is no terminal."""
OPERATORS = "No model is called: operators make everything, and cost processor time alone."
NOTE = """
A cycle of each line. Tokens are estimates; a budget (EVOLAKE_BUDGET__...) is a limit. A call is one reply, a repair or a turn of a session
included; tries that the endpoint lost are not counted. Nothing was started."""  # noqa: E501


def print_forecast(settings: Settings, names: Sequence[str], *, as_json: bool) -> int:
    """Print the forecast of the next cycle of each line.

    Raises:
        InputError: there is no such line, or no lake is named. CorruptPart, LakeError: the lake's calls
            cannot be read.
    """
    lake = settings.require_lake()
    of_lines = forecasts(settings, lake, names)
    asking = [item for item in of_lines if item.rows]
    total = total_of([item.total for item in asking])
    if as_json:
        whole = {name: value for name, value in vars(total).items() if name not in ("role", "model")}
        say_json(
            {
                "verdict": "forecast",
                "backend": settings.backend,
                "lines": [item.to_json() for item in of_lines],
                "total": whole,
            }
        )
        return 0
    if not asking:
        say(OPERATORS if settings.backend == "operators" else "No model is called by these lines.")
        return 0
    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    rows = [_cells(item.line, row) for item in asking for row in (*item.rows, item.total)]
    if len(asking) > 1:
        rows.append(_cells("all", total))
    say_text(columns_text(HEADS, rows, width, numbers=HEADS[2:], whole=HEADS[:2]))
    for item in of_lines:
        if item.rows:
            part = f"cycle {item.cycle}" if item.cycle else "the whole study"
            say(f"{item.line}, {part}: {item.stops}; probable by {_source(item)}")
        else:
            say(f"{item.line}: {item.stops}")
    say_text(NOTE)
    return 0


def _cells(line: str, row: RoleForecast) -> tuple[str, ...]:
    calls = f"{row.calls_most:,}", f"{row.calls_likely:,.1f}".removesuffix(".0")
    return (
        line,
        row.role,
        *calls,
        f"{row.tokens_most:,}",
        f"{row.tokens_likely:,}",
        _usd_text(row.usd_most),
        _usd_text(row.usd_likely),
    )


def _usd_text(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}"


def _source(item: LineForecast) -> str:
    if not item.cycles:
        return "the settings and the sizes of the prompts"
    named = item.cycles[0] if len(item.cycles) == 1 else f"{item.cycles[0]} to {item.cycles[-1]}"
    return f"the calls of cycle{'s' if len(item.cycles) > 1 else ''} {named}"


@click.group(short_help="Remove a mistyped cycle from the UI.")
def cycles() -> None:
    """Remove a mistyped cycle from those that the UI offers. Those that have run, and the next one, are
    registered without a command.

    \b
    Example:
      evolake cycles forget 0312
    """


@cycles.command(short_help="Remove a cycle that has not run from the UI.")
@click.argument("key")
@click.option("--line", "name", default=None, help="One line only (default: every line that has it).")
def forget(key: str, name: str | None) -> int:
    """Remove the cycle KEY from the partitions that Dagster's UI shows, with the failures that it counts
    there. The lake is not changed.

    A cycle that has run, and the one that is next, cannot be removed.
    """
    from evolake.lake import Lake

    evolving = [known for known, spec in lines().items() if spec.gates]
    if name is not None and name not in evolving:
        raise InputError(
            f"no line {name!r} has cycles", wanted=f"one of {', '.join(evolving)}", got=repr(name)
        )
    home = project.home(Lake(settings_module.load().require_lake()).root)
    if not home.is_dir():
        raise InputError(
            "no cycle was ever registered here",
            wanted="a DAGSTER_HOME",
            got=str(home),
            do="evolake run, or make dev",
        )
    os.environ["DAGSTER_HOME"] = str(home)
    options = ["--line", name] if name else []
    return subprocess.run(
        [*project.command("pipelines.forget_cycle"), *options, "--", key], check=False
    ).returncode
