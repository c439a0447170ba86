"""Cliff hazard: how sharply the steps turn upward near the frontier.

The growth between two neighbouring levels is compared with a fair exponent; what is above it is hazard, and counts more the closer it is to the
frontier. A failed frontier adds its own hazard. The mean effort of the last levels settles what hazards leave open.
"""

import math

from evolake.objectives.families.levels import largest_solved
from evolake.objectives.family import Family

FAMILY = Family(
    "sudden rises of cost near the frontier",
    "growth beyond N^{FAIR_EXPONENT} between neighbouring levels, fading by {FADE} a level from the frontier",
    ranges={"FAIR_EXPONENT": (1.0, 2.0), "WIDTH": (0.3, 1.0), "FADE": (0.4, 0.8), "LEVEL_SHARE": (0.15, 0.5)}, order=6, at_frontier=1,
)

FAIR_EXPONENT = 1.5
WIDTH = 0.7
FADE = 0.6
LEVEL_SHARE = 0.3


def objective(levels):
    """Faded sum of excess growth over the last levels, plus LEVEL_SHARE of the log steps a doubling of the reach."""
    hazard = 0.0
    fade = 1.0
    for low, high in zip(levels[-2::-1], levels[:0:-1], strict=True):
        growth = math.log(high["steps"] / low["steps"]) / math.log(high["n"] / low["n"])
        hazard += fade * WIDTH * math.log1p(math.exp(min((growth - FAIR_EXPONENT) / WIDTH, 50.0)))
        fade *= FADE
    if not levels[-1]["solved"]:
        last = levels[-1]
        hazard += math.log1p(max(last["steps"] / max(last["max_steps"], 1.0), 1.0))
    effort = sum(math.log(level["steps"]) for level in levels[-2:]) / len(levels[-2:])
    return hazard + LEVEL_SHARE * (effort - 2.0 * math.log2(max(largest_solved(levels), 5.0) / 5.0))
