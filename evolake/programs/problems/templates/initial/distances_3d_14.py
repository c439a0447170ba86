"""14 points in space with the smallest ratio of the largest squared distance to the smallest."""

import math


# EVOLVE-BLOCK-START
def build(case):
    """Return the points as [x, y, z]: layers of a sphere, each with its number of points, height, radius and angle."""
    layers = [(1, 1.0, 0.0, 0.0), (4, 0.4, 0.9, 0.1), (5, -0.3, 0.8, 0.5), (4, -0.9, 0.6, 0.2)]
    points = []
    for count, height, radius, turn in layers:
        for k in range(count):
            angle = turn + 2 * math.pi * k / count
            points.append([radius * math.cos(angle), radius * math.sin(angle), height])
    return points
# EVOLVE-BLOCK-END
