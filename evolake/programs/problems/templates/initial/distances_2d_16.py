"""16 points in the plane with the smallest ratio of the largest squared distance to the smallest."""

import math


# EVOLVE-BLOCK-START
def build(case):
    """Return the points as [x, y]: one in the middle, a ring of 5, a ring of 10."""
    points = [[0.0, 0.0]]
    for k in range(5):
        angle = 0.2 + 2 * math.pi * k / 5
        points.append([0.9 * math.cos(angle), 0.9 * math.sin(angle)])
    for k in range(10):
        angle = 0.1 + 2 * math.pi * k / 10
        points.append([2.2 * math.cos(angle), 2.2 * math.sin(angle)])
    return points
# EVOLVE-BLOCK-END
