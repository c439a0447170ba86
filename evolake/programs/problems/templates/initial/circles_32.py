"""32 circles in the unit square with the largest sum of radii."""

import math


# EVOLVE-BLOCK-START
def centers():
    """Six rows, of six and five circles in turn, the odd ones set off; the last one has four."""
    points = []
    for row in range(6):
        count = 6 - row % 2
        if row == 5:
            count = 4
        for k in range(count):
            points.append((0.09 + 0.164 * k + 0.08 * (row % 2), 0.09 + 0.164 * row))
    return points


def pushed(points, steps, pace, reach):
    """Move the points away from their neighbours, a little less in each step."""
    for _ in range(steps):
        moved = []
        for i, (x, y) in enumerate(points):
            a = 0.0
            b = 0.0
            for j, (u, v) in enumerate(points):
                gap = math.hypot(x - u, y - v)
                if i != j and gap < reach:
                    a = a + (x - u) / (gap * gap + 0.001)
                    b = b + (y - v) / (gap * gap + 0.001)
            moved.append((min(max(x + pace * a, 0.05), 0.95), min(max(y + pace * b, 0.05), 0.95)))
        points = moved
        pace = pace * 0.9
    return points


def build(case):
    """Return the circles as [x, y, radius]: all grow together until they touch, then one after the other takes what is left."""
    points = pushed(centers(), 3, 0.0002, 0.25)
    sizes = []
    for i, (x, y) in enumerate(points):
        near = min(math.hypot(x - u, y - v) for j, (u, v) in enumerate(points) if i != j)
        sizes.append(min(near * 0.5, x, y, 1 - x, 1 - y))
    for i, (x, y) in enumerate(points):
        room = min(math.hypot(x - u, y - v) - sizes[j] for j, (u, v) in enumerate(points) if i != j)
        sizes[i] = max(0.0, min(room, x, y, 1 - x, 1 - y))
    return [[x, y, radius] for (x, y), radius in zip(points, sizes, strict=True)]
# EVOLVE-BLOCK-END
