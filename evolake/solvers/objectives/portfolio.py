"""The solvers' portfolio of objectives: structurally different families over benchmark rows, drawn and ranked
by `evolake.objectives`.

PAR-2 alone can be gamed by a lucky formula; families that look at the tail, at one side of the truth, at
proofs instead of time or at the spread over shuffled copies outvote an edit that wins by luck.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evolake.objectives.family import families_in
from evolake.objectives.portfolio import HasFamily, ObjectiveSpec, make, new_objective

FOLDER, HELPERS = "evolake.solvers.objectives.families", "runs"
BASELINE = "par2"
FAMILIES = families_in(FOLDER)


def first_objective() -> ObjectiveSpec:
    """Return PAR-2, the one that every portfolio starts with."""
    return make(
        BASELINE,
        {},
        "PAR-2: mean cpu seconds, an unsolved run counted twice the timeout",
        folder=FOLDER,
        helpers=HELPERS,
    )


def draw_objective(
    rng: np.random.Generator, existing: Iterable[HasFamily], wanted: Sequence[str] = ()
) -> ObjectiveSpec:
    """Return a new objective of a family that has few so far; see
    `evolake.objectives.portfolio.new_objective`."""
    return new_objective(rng, existing, wanted, families=FAMILIES, folder=FOLDER, helpers=HELPERS)


def initial_portfolio(rng: np.random.Generator, count: int) -> list[ObjectiveSpec]:
    """Return PAR-2 and `count - 1` drawn ones, families as different as they can be."""
    result = [first_objective()]
    while len(result) < count:
        result.append(draw_objective(rng, result))
    return result
