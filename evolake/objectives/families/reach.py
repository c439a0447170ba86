"""Reach, then the tail: the largest size solved decides, and only designs that reach the same size are told apart by how they got there.

The tie-break lies in (0, TIE), and TIE stays below the half octave between two sizes of the schedule, so it never outweighs one level more. A tail
exponent below LEAST_EXPONENT is noise between two levels and earns nothing.
"""

import math

from evolake.objectives.families.levels import largest_solved, power_law
from evolake.objectives.family import Family

FAMILY = Family(
    "how large an instance is solved at all", "largest size solved; then tail exponent over {TAIL} levels and effort, at most {TIE} of a doubling",
    choices={"TAIL": (3, 4, 5)}, ranges={"TIE": (0.1, 0.45), "SLOPE_SHARE": (0.0, 0.7)}, order=3,
)

TAIL = 3
TIE = 0.3
SLOPE_SHARE = 0.5
LEAST_EXPONENT = 0.7


def objective(levels):
    """Minus log2 of the reach, plus a squashed mix of tail exponent and steps at the reach."""
    reach = largest_solved(levels)
    if reach == 0:
        return math.log(levels[0]["steps"])
    solved = [level for level in levels if level["solved"]]
    _, slope = power_law(solved[-TAIL:])
    effort = math.log(solved[-1]["steps"]) / math.log(solved[-1]["n"] + 1.0)
    mix = SLOPE_SHARE * max(slope, LEAST_EXPONENT) + (1.0 - SLOPE_SHARE) * effort
    return -math.log2(reach) + TIE / (1.0 + math.exp(1.5 - mix))
