"""26 circles in the unit square with the largest sum of radii."""

import math


# EVOLVE-BLOCK-START
def centers():
    """One circle in the middle, a ring of 8 around it, a ring of 17 around that."""
    points = [(0.5, 0.5)]
    for k in range(8):
        angle = 2 * math.pi * k / 8 + 0.1
        points.append((0.5 + 0.25 * math.cos(angle), 0.5 + 0.25 * math.sin(angle)))
    for k in range(17):
        angle = 2 * math.pi * k / 17 + 0.2
        points.append((0.5 + 0.42 * math.cos(angle), 0.5 + 0.42 * math.sin(angle)))
    return points


def radii(points):
    """Half the way to the nearest neighbour, or the way to the nearest wall."""
    sizes = []
    for i, (x, y) in enumerate(points):
        near = min(math.hypot(x - u, y - v) for j, (u, v) in enumerate(points) if i != j)
        sizes.append(max(0.0, min(near * 0.5, x, y, 1 - x, 1 - y)))
    return sizes


def build(case):
    """Return the circles as [x, y, radius]."""
    points = centers()
    return [[x, y, radius] for (x, y), radius in zip(points, radii(points), strict=True)]
# EVOLVE-BLOCK-END
