"""Schedule-budget headroom: what share of the schedule's budget the largest levels use, in logs.

The budget is that of the schedule at this size, not the run's own max_steps. A failed level counts with its projected steps; PULL rewards having come
far at all, since small sizes have little headroom to show.
"""

import math

from evolake.objectives.families.levels import budget, largest_solved
from evolake.objectives.family import Family

FAMILY = Family(
    "how much of the schedule's budget is left over",
    "mean log share of the schedule's budget over the last {LAST} levels, {PULL} off a doubling of the reach", choices={"LAST": (1, 2, 3, 4)},
    ranges={"PULL": (0.1, 0.6)}, order=4,
)

LAST = 3
PULL = 0.3


def objective(levels):
    """Mean log(steps / budget) over the last levels, minus PULL a doubling of the reach."""
    used = [math.log(level["steps"] / budget(level["n"])) for level in levels[-LAST:]]
    return sum(used) / len(used) - PULL * math.log2(max(largest_solved(levels), 5.0) / 5.0)
