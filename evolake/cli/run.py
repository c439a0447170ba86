"""`evolake run` and `evolake status`: start cycles through Dagster, and say where things are.

The library never imports the orchestrator: `run` starts the module `pipelines.evolve` as its own process and
passes its exit code on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click

from evolake import project
from evolake import settings as settings_module
from evolake.cli.ending import Stopped
from evolake.errors import InputError
from evolake.terminal import say, say_json, say_text

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
@click.option(
    "--replay-only", is_flag=True, help="Model backend: use the call cache alone, make no new call."
)
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
    from evolake.lake.damage import check_ready

    given = {
        "EVOLAKE_PROFILE": profile,
        "EVOLAKE_BACKEND": backend,
        "EVOLAKE_SEED": seed,
        "EVOLAKE_REPLAY_ONLY": replay_only or None,
    }
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    os.environ["DAGSTER_HOME"] = str(project.home())
    settings = settings_module.load()
    lines = _chosen_lines(lines, line)
    if dry_run:
        from evolake.cli.forecast import dry_run as print_forecast

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
    with subprocess.Popen(command) as child:
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
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def status(as_table: bool, as_json: bool) -> int:
    """Show the state of each line: sealed cycles, champion, counts, what to do next."""
    from evolake.report.artifacts import artifacts_of
    from evolake.report.line_status import lake_status

    root = settings_module.load().require_lake()
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
        if row["broken"]:
            say(f"  {row['broken']}")
    return 3 if damaged else 0


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
