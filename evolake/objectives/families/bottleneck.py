"""Smooth-max bottleneck: the tightest place in the schedule, seen or foretold.

log(steps / budget) at the last levels and, foretold by the worst window of the tail, at two sizes beyond; a smooth maximum finds the bottleneck
without hanging on one noisy level.
"""

import math

from evolake.objectives.families.levels import WORST, budget, read_levels, smooth_max, worst_window

LAST = 3
WIDTH = 3
SHARPNESS = 2.0
NEAR_N = 1810
FAR_N = 2560


def objective(experiment_results):
    """Smooth maximum of log(steps / budget)."""
    levels = read_levels(experiment_results)
    if not levels:
        return WORST
    used = [math.log(level["steps"] / budget(level["n"])) for level in levels[-LAST:]]
    tail = levels[-max(WIDTH, LAST, 2) :]
    for target in (NEAR_N, FAR_N):
        if len(levels) == 1:
            foretold = math.log(levels[0]["steps"]) + 2.0 * math.log(target / levels[0]["n"])
        else:
            foretold = worst_window(tail, WIDTH, target)
        used.append(foretold - math.log(budget(target)))
    return smooth_max(used, SHARPNESS)
