"""Transfer: Sudoku 4x4 grids under the same candidate contract, certifier, arms and budget. Descriptive only:
no test, and no claim rests on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evolake.errors import MachineryError
from evolake.repair.benchmark.generator import Labelled, planned_labels
from evolake.repair.benchmark.sudoku import Grid, completions, drawn_grid, encode, has_clash, spoilt
from evolake.repair.certification.certify import CERTIFIED, REFUTED, Certifier
from evolake.repair.certification.labels import Label
from evolake.repair.model.candidates import UNSAT
from evolake.repair.model.problems import Problem
from evolake.seeds import child_seed

SUITE = "sudoku4"
CERTIFIERS = ("z3", "grid_backtracking")
FEWEST_EMPTY, MOST_EMPTY = 6, 9
MAX_DRAWS = 2000


def transfer_rows(count: int, root_seed: int, *, timeout_ms: int) -> Iterator[dict[str, Any]]:
    """Yield rows of PROBLEMS: `count` grids in the shares of the main benchmark, each labelled by Z3 on the
    encoding and by backtracking on the grid.

    Raises:
        MachineryError: the two certifiers disagree, or no draw gave a grid of the planned label.
    """
    certifier = Certifier(timeout_ms)
    for index, label in enumerate(planned_labels(count, root_seed)):
        yield one_grid(index, label, root_seed, certifier).row(suite=SUITE)


def one_grid(index: int, label: str, root_seed: int, certifier: Certifier) -> Labelled:
    """Return grid `index` of a seed: the first draw of the planned label in which no contradiction is seen at
    a glance."""
    seed = child_seed(root_seed, "repair", "problems", f"{SUITE}:{label}", index)
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(MAX_DRAWS):
        grid = drawn_grid(rng, int(rng.integers(FEWEST_EMPTY, MOST_EMPTY + 1)))
        if label == "unsat":
            grid = spoilt(grid, rng)
        if (
            has_clash(grid)
            or (problem := encode(grid, f"sud-{index:04d}")) is None
            or has_completion(grid) != (label == "sat")
        ):
            continue
        return Labelled(replace(problem, label=label, seed=seed), certified(problem, grid, certifier))
    raise MachineryError(
        f"no {label} grid in {MAX_DRAWS} draws",
        wanted="a grid both certifiers agree on",
        do="report the seed and the index",
    )


def has_completion(grid: Grid) -> bool:
    """Return whether the grid can be completed, found on the grid itself."""
    return next(completions(grid), None) is not None


def certified(problem: Problem, grid: Grid, certifier: Certifier) -> Label:
    """Return the label of an encoded grid. Raises MachineryError where Z3 does not decide it, or decides
    otherwise than backtracking on the grid."""
    by_grid = "sat" if has_completion(grid) else "unsat"
    answer = certifier.certify(problem, UNSAT)
    by_solver = {CERTIFIED: "unsat", REFUTED: "sat"}.get(answer.verdict, answer.verdict)
    if by_solver != by_grid:
        raise MachineryError(
            f"two certifiers disagree about the grid {problem.id}",
            wanted="one label",
            got=f"z3: {by_solver}; backtracking: {by_grid}",
            do="keep the grid and report it",
        )
    return Label(by_grid, CERTIFIERS, answer.core)
