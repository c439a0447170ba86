"""Smooth-max bottleneck: the tightest place in the schedule, seen or foretold.

log(steps / budget) at the last levels and, foretold by the worst window of the tail, at two sizes beyond; a smooth maximum finds the bottleneck
without hanging on one noisy level.
"""

import math

from evolake.objectives.families.levels import budget, smooth_max, worst_window
from evolake.objectives.family import Family

FAMILY = Family(
    "the tightest place of the schedule, seen or foretold",
    "smooth maximum of log budget share at the last {LAST} levels and foretold at N={NEAR_N} and {FAR_N}",
    choices={"LAST": (2, 3, 4), "WIDTH": (2, 3, 4), "NEAR_N": (640, 905, 1810), "FAR_N": (2560,)},
    ranges={"SHARPNESS": (0.5, 5.0)}, order=7, at_frontier=3,
)

LAST = 3
WIDTH = 3
SHARPNESS = 2.0
NEAR_N = 1810
FAR_N = 2560


def objective(levels):
    """Smooth maximum of log(steps / budget)."""
    used = [math.log(level["steps"] / budget(level["n"])) for level in levels[-LAST:]]
    tail = levels[-max(WIDTH, LAST, 2) :]
    for target in (NEAR_N, FAR_N):
        if len(levels) == 1:
            foretold = math.log(levels[0]["steps"]) + 2.0 * math.log(target / levels[0]["n"])
        else:
            foretold = worst_window(tail, WIDTH, target)
        used.append(foretold - math.log(budget(target)))
    return smooth_max(used, SHARPNESS)
