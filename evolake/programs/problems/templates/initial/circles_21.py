"""21 circles in a rectangle of perimeter 4 with the largest sum of radii."""

import math


# EVOLVE-BLOCK-START
def layout():
    """Return the rectangle's width and the centers of the circles, in units of its sides."""
    width = 1.0
    points = [
        (0.1, 0.1), (0.3, 0.1), (0.5, 0.1), (0.7, 0.1), (0.9, 0.1),
        (0.2, 0.35), (0.4, 0.35), (0.6, 0.35), (0.8, 0.35),
        (0.1, 0.6), (0.3, 0.6), (0.5, 0.6), (0.7, 0.6), (0.9, 0.6),
        (0.15, 0.85), (0.3, 0.85), (0.45, 0.85), (0.6, 0.85), (0.75, 0.85), (0.9, 0.85), (0.05, 0.4),
    ]
    return width, points


def build(case):
    """Return the circles as [x, y, radius]: all grow together until they touch, then one after the other takes what is left."""
    width, units = layout()
    height = 2 - width
    points = [(x * width, y * height) for x, y in units]
    sizes = []
    for i, (x, y) in enumerate(points):
        near = min(math.hypot(x - u, y - v) for j, (u, v) in enumerate(points) if i != j)
        sizes.append(max(0.0, min(near * 0.5, x, y, width - x, height - y)))
    for i, (x, y) in enumerate(points):
        room = min(math.hypot(x - u, y - v) - sizes[j] for j, (u, v) in enumerate(points) if i != j)
        sizes[i] = max(0.0, min(room, x, y, width - x, height - y))
    return [[x, y, radius] for (x, y), radius in zip(points, sizes, strict=True)]
# EVOLVE-BLOCK-END
