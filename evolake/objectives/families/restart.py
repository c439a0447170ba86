"""Censored restart cost: the mean log steps over the whole ladder of sizes, failures paid by restarting.

A solved level costs its median. A failed one costs what restarting at its budget would: max_steps over the chance of success. Sizes beyond the last
level cost what a power law through the tail foretells, and more after a failure: a design that gave up early must not look cheap.
"""

import math

import numpy as np

from evolake.objectives.families.levels import power_law
from evolake.objectives.family import Family

FAMILY = Family(
    "what all sizes together cost, failures included", "mean log restart cost over all sizes up to N={TOP_N}, sizes weighted by N^{EMPHASIS}",
    choices={"TOP_N": (640, 1280, 2560), "TAIL": (3, 4, 5)}, ranges={"EMPHASIS": (0.2, 1.5), "FAILURE_EXPONENT": (2.5, 5.0)}, order=2,
)

TOP_N = 1280
TAIL = 4
EMPHASIS = 0.5
FAILURE_EXPONENT = 3.0


def objective(levels):
    """Weighted mean of log restart cost over sizes 10, 14, 20, ... up to TOP_N."""
    x = []
    y = []
    for level in levels:
        chance = (level["batch"] * (1.0 - level["unsolved"]) + 0.5) / (level["batch"] + 1.0)
        cost = level["steps"] if level["solved"] else max(level["max_steps"] / max(chance, 1e-3), level["steps"])
        x.append(math.log(level["n"]))
        y.append(math.log(cost))
    _, slope = power_law(levels[-TAIL:])
    slope = max(slope, 0.5)
    if not levels[-1]["solved"]:
        slope = max(slope, FAILURE_EXPONENT)
    sizes = [round(10 * 2 ** (k / 2)) for k in range(60)]
    ladder = np.log([size for size in sizes if size <= max(TOP_N, 10)])
    cost = np.interp(ladder, x, y) + slope * np.maximum(ladder - x[-1], 0.0)
    weight = np.exp(EMPHASIS * ladder)
    return math.fsum(weight * cost) / math.fsum(weight)
