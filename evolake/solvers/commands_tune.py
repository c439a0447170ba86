"""The command `evolake solvers tune`: which options make a solver faster on formulas like these?

Exit codes: 0 a setting is better than the default on unseen formulas, 1 none is shown to be, 2 no such
solver, formulas or options, or too little time, 3 the machinery failed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import AS_JSON, PROFILE, OrdinaryPath, materialize
from evolake.solvers.commands import INSTANCES, STATUSES, TIMEOUT, WORKERS
from evolake.terminal import say, say_json, say_text

if TYPE_CHECKING:
    from evolake.solvers.measurement.duel import Decision
    from evolake.solvers.tuning.tuning import Tuned


@click.command(short_help="Find options that make SOLVER faster on your formulas.")
@click.argument("solver")
@click.option(
    "--formulas",
    "suite",
    required=True,
    help="A folder of formulas of one kind, 40 or more; or a suite by name (quick, train, strong, ...).",
)
@STATUSES
@INSTANCES
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Processor time of each core for runs of the solver.",
)
@TIMEOUT
@click.option(
    "--unseen",
    type=click.FloatRange(0.1, 0.9),
    default=0.5,
    show_default=True,
    help="Share of a folder's formulas that only decide.",
)
@click.option(
    "--adapter",
    default=None,
    help="How a program or an upstream tree is called: a family's name, or a file NAME.toml.",
)
@click.option("--control", is_flag=True, help="Also try random settings without a race, for as long.")
@click.option(
    "--draw",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Number that the split and the random settings are drawn from.",
)
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    default=None,
    help="Folder for a page, two figures and all runs (default: none).",
)
@click.option(
    "--submit",
    is_flag=True,
    help="Submit a better setting to the next cycle of the solvers line, as defaults in the seed's sources.",
)
@click.option("--rows/--no-rows", default=True, show_default=True, help="Keep what came of it in the lake.")
@WORKERS
@PROFILE
@AS_JSON
def tune(
    solver: str,
    suite: str,
    statuses: Path | None,
    instances: int,
    minutes: float,
    unseen: float,
    adapter: str | None,
    control: bool,
    draw: int,
    out: Path | None,
    submit: bool,
    rows: bool,
    as_json: bool,
    **measuring: Any,
) -> int:
    """Race options of SOLVER on half of your formulas, without building anything, and let the best setting
    meet the default on the other half.

    SOLVER is a seed's name, a repository's folder or a program. The same command continues if it was killed.

    \b
    Example:
      evolake solvers tune cadical195 --formulas my-formulas --minutes 20
    """
    from evolake.lake import Lake
    from evolake.settings import load
    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.measurement.repositories import SuiteChoice
    from evolake.solvers.repository.seeding import load_seeds
    from evolake.solvers.suites.folders import is_folder
    from evolake.solvers.tuning.page import words, write_page
    from evolake.solvers.tuning.rows import write_request
    from evolake.solvers.tuning.submitting import seed_in, submit_setting
    from evolake.solvers.tuning.tables import LINE
    from evolake.solvers.tuning.tuning import TuneOptions
    from evolake.solvers.tuning.tuning import tune as run_tuning

    measured, asked_for = MeasuringOptions(**measuring), TuneOptions(minutes, unseen, control, draw)
    settings = load(measured.profile)
    lake = Lake(settings.require_lake())
    if submit:
        seed_in(lake, solver)
    result = run_tuning(
        solver,
        SuiteChoice(suite, instances, statuses),
        measured,
        asked_for,
        adapter=adapter,
        say=lambda line: say(line, err=True),
    )
    written = write_page(result, out) if out is not None else None
    key = ""
    if rows:
        seed = adapter is None and solver in load_seeds()
        folder = is_folder(suite, settings.seeds)
        asked = {
            "solver": solver if seed or not Path(solver).exists() else str(Path(solver).resolve()),
            "suite": str(Path(suite).resolve()) if folder else suite,
            "statuses": str(statuses.resolve()) if statuses else None,
            "adapter": str(Path(adapter).resolve()) if adapter and Path(adapter).exists() else adapter,
            "processes": measured.processes(settings),
            **{name: getattr(measured, name) for name in ("timeout_s", "profile")},
            **{name: getattr(asked_for, name) for name in ("minutes", "unseen", "control", "draw")},
        }
        key = write_request(lake, result, asked | {"instances": instances})
    if as_json:
        say_json(_to_json(result) | {"tuning": key})
    else:
        say_text("\n".join(words(result)) + "\n", nl=False)
        say(*([f"written: {written}"] if written else []))
    if key and (code := materialize(lake.root, LINE, key)) != 0:
        return code
    if key and not as_json:
        say(f"in the lake: evolake sql \"FROM tunings.verdicts WHERE tuning = '{key}'\"")
    if result.verdict != "better":
        return 1
    if submit:
        kept = submit_setting(lake, settings, result)
        say(f"submitted: it enters cycle {kept['cycle']}; next: evolake run --lines solvers", err=as_json)
    return 0


def _to_json(result: Tuned) -> dict[str, Any]:
    from evolake.solvers.tuning.page import command_of, tried_rows

    def plain(decision: Decision | None) -> dict[str, Any] | None:
        if decision is None:
            return None
        row = decision.row("tune").items()
        return {name: None if value == math.inf else value for name, value in row if name != "cycle"}

    return {
        "verdict": result.verdict,
        "solver": result.solver,
        "options": list(result.words),
        "command": command_of(result) if result.words else None,
        "kinds": result.kinds,
        "formulas": result.formulas,
        "unseen": result.unseen,
        "decision": plain(result.decision),
        "against_control": plain(result.against_control),
        "race_ratio": result.race and result.race.ratio,
        "seconds": {"default": result.default_s, "race": result.race_s, "duels": result.duel_s},
        "tried": tried_rows(result),
    }
