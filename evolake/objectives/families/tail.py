"""Worst-window tail: the gloomiest of all local forecasts.

Every few neighbouring levels of the tail foretell the steps at a large size by a power law of their own; the largest forecast counts. A design must
scale well everywhere, not on average.
"""

import math

from evolake.objectives.families.levels import worst_window
from evolake.objectives.family import Family

FAMILY = Family(
    "the worst local growth among the larger sizes",
    "largest steps at N={TARGET_N} foretold by any {WIDTH} neighbouring levels of the last {SHARE} of them",
    choices={"TARGET_N": (905, 1810, 2560), "WIDTH": (2, 3, 4)}, ranges={"SHARE": (0.4, 0.8)}, order=5, at_frontier=2,
)

TARGET_N = 1810
WIDTH = 3
SHARE = 0.6


def objective(levels):
    """Largest foretold log steps at the target size."""
    if len(levels) == 1:
        return math.log(levels[0]["steps"]) + 2.0 * math.log(TARGET_N / levels[0]["n"])
    keep = max(2, math.ceil(SHARE * len(levels)))
    return worst_window(levels[-keep:], WIDTH, TARGET_N)
