"""Confirm a suite: every formula is solved by solvers of different makers, every model is checked, and the
lock is written.

    python -m evolake.solvers.suites.confirm train [--seeds DIR] [--tree cadical195=DIR] [--limit SECONDS] [--again]

A status needs two solvers that agree and none that disagrees. The solvers are those that come inside the
package python-sat; each runs in a separate process with a limit. Formulas that the lock pins already, with
the same bytes, are left as they are unless `--again` is given.
"""  # noqa: E501

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evolake.errors import InputError
from evolake.reading.formula import falsified_clauses, read_dimacs, write_dimacs
from evolake.solvers.suites.spec import FOLDER, Recipe, Spec, archive_name, build, load_spec, recipes_of
from evolake.terminal import exit_code_of, say

SOLVERS = ("cadical195", "minisat22", "glucose42", "maplechrono")
NEEDED = 2
ASK = Path(__file__).with_name("ask_solver.py")
"""The program that a process runs one solver by."""


def ask(solver: str, data: bytes, limit_s: float) -> tuple[str, float, list[int]] | None:
    """Return (status, cpu seconds of the search, model) by one of python-sat's solvers, or None where it does
    not end in time.

    data: DIMACS as `write_dimacs` gives it, one clause per line.
    """
    try:
        run = subprocess.run(
            [sys.executable, "-P", str(ASK), solver],
            input=data,
            capture_output=True,
            timeout=limit_s,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    first, _, rest = run.stdout.decode().partition("\n")
    status, seconds = first.split()
    return status, float(seconds), [int(literal) for literal in rest.split()]


def confirm(
    name: str, data: bytes, limit_s: float, solvers: Sequence[str] = SOLVERS, needed: int = NEEDED
) -> dict[str, Any]:
    """Return {"sha256", "status", "confirmed_by", "cpu_s"} of a formula; asks one solver after another until
    `needed` agree.

    Raises:
        InputError: two solvers disagree, a model is wrong, or too few answer in time.
    """
    formula = read_dimacs(data)
    result: dict[str, str] = {}
    times: dict[str, float] = {}
    plain = write_dimacs(formula)
    if (np.diff(formula.starts) == 0).any():
        return {
            "sha256": hashlib.sha256(data).hexdigest(),
            "status": "UNSAT",
            "confirmed_by": ["empty clause"],
            "cpu_s": {},
        }
    for solver in solvers:
        if len(result) >= needed:
            break
        if (reply := ask(solver, plain, limit_s)) is None:
            continue
        status, times[solver], model = reply
        if status == "SAT" and len(bad := falsified_clauses(formula, _complete(model, formula.variables))):
            raise InputError(f"{solver} gives {name} a model that falsifies clause {int(bad[0])}")
        result[solver] = status
    if len(set(result.values())) > 1:
        raise InputError(f"solvers disagree on {name}", got=str(result))
    if len(result) < needed:
        raise InputError(
            f"{name} is not confirmed",
            wanted=f"{needed} solvers within {limit_s:g} s",
            got=str(result) or "none",
            do="make it easier",
        )
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "status": next(iter(result.values())),
        "confirmed_by": sorted(result),
        "cpu_s": {solver: round(seconds, 3) for solver, seconds in sorted(times.items())},
    }


def lock_suite(
    spec: Spec, *, trees: Mapping[str, Path], limit_s: float, again: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the lock's content, formula name -> what `confirm` says; statuses must be those of the spec.
    Shuffles take the status of their base.

    Raises:
        InputError: a formula that cannot be confirmed, or whose status is not what the spec says.
    """
    locked: dict[str, dict[str, Any]] = {}
    for recipe in [
        *spec.recipes,
        *(result for archive in spec.archives for result in _listed(spec, archive.seed, trees)),
    ]:
        data = build(recipe, trees.__getitem__)
        sha = hashlib.sha256(data).hexdigest()
        known = spec.locked.get(recipe.name)
        if known and known["sha256"] == sha and not again:
            locked[recipe.name] = known
        elif recipe.shuffle:
            base = locked[recipe.base]
            locked[recipe.name] = {
                "sha256": sha,
                "status": base["status"],
                "confirmed_by": base["confirmed_by"],
            }
        else:
            locked[recipe.name] = confirm(recipe.name, data, limit_s)
            say(f"{recipe.name} {locked[recipe.name]['status']} {locked[recipe.name]['cpu_s']}", err=True)
        if recipe.status not in ("unknown", locked[recipe.name]["status"]):
            raise InputError(
                f"{recipe.name}: the spec says {recipe.status}",
                got=locked[recipe.name]["status"],
                do="fix the spec",
            )
    return locked


def _complete(model: list[int], variables: int) -> list[int]:
    """Return a model as python-sat gives it, without values for variables that no clause names, made
    whole."""
    return [*model, *range(abs(model[-1]) + 1 if model else 1, variables + 1)]


def _listed(spec: Spec, seed: str, trees: Mapping[str, Path]) -> list[Recipe]:
    """Recipes of all formulas of an archive: those in its tree where it is given, else those that the lock
    lists."""
    result: list[Recipe] = []
    for archive in spec.archives:
        if archive.seed != seed:
            continue
        if seed not in trees:
            return [recipe for recipe in recipes_of(spec) if recipe.seed_name == seed]
        for path in sorted(
            path for path in (trees[seed] / archive.folder).glob("*.cnf") if path.stem not in archive.skip
        ):
            name = archive_name(archive, path.stem)
            result.append(
                Recipe(
                    name,
                    archive.family,
                    "unknown",
                    None,
                    base=name,
                    seed_name=seed,
                    source=f"{archive.folder}/{path.name}",
                )
            )
    return result


def main() -> int:
    """Write the lock of the suite that the command line names; return the exit code. What is wrong is printed
    without a traceback."""
    return exit_code_of(_lock)


def _lock() -> None:
    parser = argparse.ArgumentParser(prog="python -m evolake.solvers.suites.confirm")
    parser.add_argument("suite")
    parser.add_argument("--seeds", type=Path, default=Path("data_lake/seeds"))
    parser.add_argument("--tree", action="append", default=[], metavar="SEED=DIR")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    spec = load_spec(given.suite, given.seeds)
    trees = {name: Path(folder) for name, _, folder in (pair.partition("=") for pair in given.tree)}
    locked = lock_suite(spec, trees=trees, limit_s=given.limit, again=given.again)
    text = json.dumps({"suite": given.suite, "formulas": locked}, indent=1) + "\n"
    (given.seeds / FOLDER / f"{given.suite}.lock.json").write_text(text, encoding="utf-8")
    say(f"{len(locked)} formulas locked")


if __name__ == "__main__":
    sys.exit(main())
