"""The solvers' portfolio of objectives: structurally different families over benchmark rows, drawn and ranked by `evolake.objectives`.

PAR-2 alone can be gamed by a lucky formula; families that look at the tail, at one side of the truth, at proofs instead of time or at the spread
over shuffled copies outvote an edit that wins by luck.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from evolake.objectives.portfolio import Family, HasFamily, ObjectiveSpec, draw, make

FOLDER, HELPERS = "evolake.solvers.objectives.families", "runs"
BASELINE = "par2"
FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("par2", "the average cost", "mean cost, an unsolved run counted {PENALTY} times the timeout", {}, {"PENALTY": (2.0, 10.0)}),
        Family(
            "log_time", "the factor saved on every formula", "mean log of cost + {FLOOR} s, unsolved at {PENALTY} timeouts", {},
            {"FLOOR": (0.01, 0.5), "PENALTY": (2.0, 10.0)},
        ),
        Family(
            "tail", "the slowest formulas", "mean cost of the slowest {SHARE} of the runs, unsolved at {PENALTY} timeouts", {},
            {"SHARE": (0.1, 0.5), "PENALTY": (2.0, 5.0)},
        ),
        Family(
            "cut_offs", "how many are solved by when", "solved at {STEPS} cut-offs a factor {RATIO} apart, weights {EARLY}**step",
            {"STEPS": (3, 4, 5, 6, 8)}, {"RATIO": (1.5, 4.0), "EARLY": (0.5, 1.5)},
        ),
        Family(
            "sat_side", "satisfiable formulas", "log cost of satisfiable formulas, the worst at {WORST_SHARE}, floor {FLOOR} s", {},
            {"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.0, 0.5)},
        ),
        Family(
            "unsat_side", "unsatisfiable formulas", "log cost of unsatisfiable formulas, the worst at {WORST_SHARE}, proofs at {PROOF_WEIGHT}", {},
            {"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.0, 0.5), "PROOF_WEIGHT": (0.0, 0.2)},
        ),
        Family(
            "families_even", "the weakest family", "smooth maximum (sharpness {SHARPNESS}) of the families' mean log costs", {},
            {"FLOOR": (0.01, 0.5), "SHARPNESS": (0.2, 4.0)},
        ),
        Family(
            "memory", "memory", "log peak memory, the largest at {MAX_SHARE}, unsolved runs at {UNSOLVED_WEIGHT}", {},
            {"MAX_SHARE": (0.0, 0.6), "UNSOLVED_WEIGHT": (2.0, 8.0)},
        ),
        Family(
            "derivation", "the length of proofs", "log proof bytes of unsatisfiable formulas, unsolved at {UNSOLVED_FACTOR} times the longest", {},
            {"UNSOLVED_FACTOR": (2.0, 10.0)},
        ),
        Family(
            "shuffles", "the spread over shuffled copies", "worst copy of a formula at {WORST_SHARE}, spread at {SPREAD}", {},
            {"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.2, 1.0), "SPREAD": (0.0, 1.0)},
        ),
        Family(
            "proved", "answers that are proved", "share of the limit used up to the {POWER}, an unchecked answer worth {UNCHECKED} of a failure", {},
            {"UNCHECKED": (0.1, 0.9), "POWER": (0.5, 1.5)},
        ),
    )
}


def first_objective() -> ObjectiveSpec:
    """PAR-2, the one that every portfolio starts with."""
    return make(BASELINE, {}, "PAR-2: mean cpu seconds, an unsolved run counted twice the timeout", folder=FOLDER, helpers=HELPERS)


def draw_objective(rng: np.random.Generator, existing: Iterable[HasFamily], wanted: Sequence[str] = ()) -> ObjectiveSpec:
    """A new objective of a family that has few so far; see `evolake.objectives.portfolio.draw`."""
    return draw(rng, existing, wanted, families=FAMILIES, folder=FOLDER, helpers=HELPERS)


def initial_portfolio(rng: np.random.Generator, count: int) -> list[ObjectiveSpec]:
    """PAR-2 and `count - 1` drawn ones, families as different as they can be."""
    found = [first_objective()]
    while len(found) < count:
        found.append(draw_objective(rng, found))
    return found
