"""13 points in the plane whose smallest triangle is as large as possible a share of their convex hull."""

import math


# EVOLVE-BLOCK-START
def build(case):
    """Return the points as [x, y]: an outer ring of 7 and an inner ring of 5, each stretched, and one point near the middle."""
    points = [[0.03, 0.05]]
    for k in range(7):
        angle = 0.3 + 2 * math.pi * k / 7
        points.append([1.0 * math.cos(angle), 0.9 * math.sin(angle) + 0.02 * k])
    for k in range(5):
        angle = 0.8 + 2 * math.pi * k / 5
        points.append([0.5 * math.cos(angle) + 0.01 * k, 0.6 * math.sin(angle)])
    return points
# EVOLVE-BLOCK-END
