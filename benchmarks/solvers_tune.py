"""What does `evolake solvers tune` gain on families of formulas that people care about, by solver?

    python benchmarks/solvers_tune.py [FAMILY ...] [--solver SOLVER ...] [--minutes 2] [--formulas 40]
        [--state FILE] [--control]

For each family and each solver 40 formulas are drawn, 20 to race on and 20 that decide, as the command does with
a folder. If the best setting is better on the 20, 40 formulas that are drawn after the choice meet both once
more: the column "drawn after the choice". Ratios are geometric means of the default's cost over the setting's,
with 95 % intervals; a limit of 10 s. With --control, random settings without a race get as many seconds as the
race, each on all formulas, and the race's winner meets the best of them on the 20 unseen ones. FILE has a line
for each pair that is done; the same command continues. Seconds are processor time of the solvers.

SOLVER is what `evolake solvers tune` takes: a seed's name, a repository's folder, or a program with the name of a
known family. Circuits and puzzles have either answer.
"""  # noqa: E501

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from bench import SHORT

from evolake.compute.local import LocalExecutor
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.blobs import BlobStore
from evolake.reading.formula import Formula, write_dimacs
from evolake.settings import load
from evolake.solvers.measurement.benchmark import MeasuringOptions
from evolake.solvers.measurement.duel import Contender, DuelPlan, decide_duel, decision_rng, run_duel
from evolake.solvers.measurement.repositories import SuiteChoice
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.combinatorial import coloring, quasigroup_with_holes, tseitin
from evolake.solvers.suites.folders import named_suite
from evolake.solvers.suites.generators import (
    arx_preimage,
    filter_state,
    miter,
    multiplier,
    planted_ksat,
    random_ksat,
)
from evolake.solvers.suites.transitions import reachable, sliding_puzzle
from evolake.solvers.tables import DUELS
from evolake.solvers.tuning.page import command_of
from evolake.solvers.tuning.tuning import Tuned, TuneOptions, open_solver, tune

Draw = Callable[[np.random.Generator], Formula]
SOLVERS = ("cadical195", "glucose421", "minisat22")
LIMIT_S = 10.0


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _random(ratio: float, low: int, high: int) -> Draw:
    def draw(rng: np.random.Generator) -> Formula:
        n = int(rng.integers(low, high))
        return random_ksat(n, round(ratio * n), 3, _seed(rng))

    return draw


def _factoring(rng: np.random.Generator) -> Formula:
    bits = 17

    def prime() -> int:
        while True:
            value = int(rng.integers(2 ** (bits - 1), 2**bits)) | 1
            if all(value % factor for factor in range(3, int(value**0.5) + 1, 2)):
                return value

    return multiplier(bits, bits, prime() * prime())


def _coloring(rng: np.random.Generator) -> Formula:
    n = int(rng.integers(104, 116))
    return coloring(n, round(4.5 * n), 4, _seed(rng))


def _square(rng: np.random.Generator) -> Formula:
    n = int(rng.integers(32, 36))
    return quasigroup_with_holes(n, round(0.42 * n * n), _seed(rng))


def _planted(rng: np.random.Generator) -> Formula:
    n = int(rng.integers(380, 440))
    return planted_ksat(n, round(4.3 * n), 3, _seed(rng))


FAMILIES: dict[str, Draw] = {
    "bounded model checking of counters, 30 steps": lambda rng: reachable(8, 4, 4, 30, _seed(rng)),
    "planning: eight sliding tiles, 22 moves": lambda rng: sliding_puzzle(3, 3, 22, _seed(rng)),
    "random 3-SAT, unsatisfiable (4.7 clauses per variable)": _random(4.7, 205, 226),
    "random 3-SAT near the threshold (4.26), either answer": _random(4.26, 200, 226),
    "random 3-SAT with a planted assignment (4.3)": _planted,
    "equivalence of two multipliers of 7 bits": lambda rng: miter(7, 2, _seed(rng)),
    "factoring of 34 bits": _factoring,
    "colouring of random graphs with 4 colours": _coloring,
    "completing Latin squares": _square,
    "Tseitin parities on random graphs": lambda rng: tseitin(int(rng.integers(22, 27)), 4, _seed(rng)),
    "preimages of a mixer (add, rotate, xor) of 32 bits": lambda rng: arx_preimage(8, 2, 4, _seed(rng)),
    "states of a filter generator": lambda rng: filter_state(int(rng.integers(56, 61)), 92, 0, _seed(rng)),
}


def drawn(family: str, folder: Path, count: int, rng: np.random.Generator) -> Path:
    """Write formulas of a family as files, and return the folder."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{number:03d}.cnf").write_bytes(write_dimacs(FAMILIES[family](rng)))
    return folder


def measured(
    family: str, solver: str, minutes: float, count: int, draw: int, *, control: bool
) -> dict[str, Any]:
    """Tune one solver on one family, and meet formulas that are drawn after the choice."""
    with tempfile.TemporaryDirectory(prefix="evolake-tune-") as name:
        folder = Path(name)
        first = drawn(family, folder / "first", count, np.random.default_rng([draw, len(family)]))
        measuring = MeasuringOptions(timeout_s=LIMIT_S)
        row: dict[str, Any] = {"family": family, "solver": solver}
        try:
            options = TuneOptions(minutes=minutes, draw=draw, control=control)
            result = tune(solver, SuiteChoice(str(first), 0, None), measuring, options)
        except InputError as error:  # too easy, or too hard for the time
            return row | {"verdict": error.what, "settings": 0, "options": ""}
        row["verdict"] = result.verdict
        row |= {"options": " ".join(result.words), "settings": len(result.tried), "kinds": result.kinds}
        row |= {"default_s": result.default_s / result.formulas, "race_s": result.race_s}
        if result.decision:
            row["unseen"] = shown(result.decision)
        if result.against_control:
            row["over_random"] = shown(result.against_control)
        if result.verdict == "better":
            fresh = drawn(
                family, folder / "fresh", count, np.random.default_rng(int.from_bytes(os.urandom(8)))
            )
            row["after"] = shown(again(result, solver, fresh, measuring))
            row["command"] = command_of(result)
        return row


def again(result: Tuned, solver: str, folder: Path, measuring: MeasuringOptions) -> Any:
    """Return the decision of one more duel, on other formulas."""
    assert result.race is not None
    settings = load()
    blobs, cache = places()
    suite = named_suite(str(folder), blobs, cache / "formulas", seeds=settings.seeds)
    _, program = open_solver(solver, None, blobs, cache)
    sides = (
        Contender("default", program),
        Contender("tuned", result.line.with_setting(program, result.race.setting)),
    )
    plan = measuring.plan(settings.of(SolversSettings), cache)
    with LocalExecutor(measuring.processes(settings)) as executor:
        rows = run_duel(DuelPlan(*sides, suite, "after", 1), plan, executor)
    return decide_duel(DUELS.frame(rows), decision_rng(1, "after", "challenger"))


def places() -> tuple[BlobStore, Path]:
    """Return the lake's blobs and the cache of solvers."""
    lake = load().require_lake()
    return Lake(lake).blobs, lake / "cache" / "solvers"


def shown(decision: Any) -> dict[str, Any]:
    """Return what the table has of a decision."""
    names = (
        "formulas",
        "ratio",
        "ratio_low",
        "ratio_high",
        "verdict",
        "solved_champion",
        "solved_challenger",
    )
    return {name: getattr(decision, name) for name in names}


def words(item: dict[str, Any] | None) -> str:
    """Return a ratio with its interval."""
    if not item:
        return "-"
    return f"{item['ratio']:.2f} ({item['ratio_low']:.2f} to {item['ratio_high']:.2f})"


@click.command()
@click.argument("families", nargs=-1)
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    default=SOLVERS[2:] if SHORT else SOLVERS,
    show_default=True,
    help="A seed's name, a folder or a program.",
)
@click.option("--minutes", default=0.25 if SHORT else 2.0, show_default=True, help="As of `tune`.")
@click.option("--formulas", default=12 if SHORT else 40, show_default=True)
@click.option("--draw", default=1, show_default=True, help="Number that the formulas are drawn from.")
@click.option("--control", is_flag=True, help="Also random settings, for as long.")
@click.option("--state", type=click.Path(path_type=Path), default=None, help="File of what is done.")
def main(
    families: tuple[str, ...],
    solvers: tuple[str, ...],
    minutes: float,
    formulas: int,
    draw: int,
    control: bool,
    state: Path | None,
) -> None:
    """Print the table, a line as soon as it is known. FAMILY: a part of a family's name."""
    chosen = [name for name in FAMILIES if not families or any(part in name for part in families)]
    if SHORT:
        chosen = [name for name in FAMILIES if "colouring" in name]
    try:
        for solver in solvers:
            open_solver(solver, None, *places())
    except InputError as error:
        raise click.UsageError(str(error)) from None
    done = [json.loads(line) for line in state.read_text().splitlines()] if state and state.exists() else []
    names = ("on unseen formulas", "drawn after the choice", "over random settings", "settings", "options")
    print(f"| family | solver | verdict | {' | '.join(names)} |")
    print("| --- " * (3 + len(names)) + "|")
    for family in chosen:
        for solver in solvers:
            row = next((item for item in done if (item["family"], item["solver"]) == (family, solver)), None)
            if row is None:
                row = measured(family, solver, minutes, formulas, draw, control=control)
                if state:
                    with state.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            print(
                f"| {family} | {Path(solver).name} | {row['verdict']} | {words(row.get('unseen'))} "
                f"| {words(row.get('after'))} | {words(row.get('over_random'))} | {row['settings']} "
                f"| `{row['options']}` |",
                flush=True,
            )


if __name__ == "__main__":
    main()
