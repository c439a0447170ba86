"""26 circles in the unit square with the largest sum of radii. What stands between the two marks evolves."""

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
    return spread(points, 5, 0.02, 1.0)


def spread(points, steps, pace, reach):
    """Moves points away from their nearest neighbours and from the walls, a little less in each step."""
    for _ in range(steps):
        moved = []
        for i, (x, y) in enumerate(points):
            push_x = 0.0
            push_y = 0.0
            for j, (u, v) in enumerate(points):
                gap = math.hypot(x - u, y - v)
                if i != j and gap < 0.3 * reach:
                    push_x = push_x + (x - u) / (gap * gap + 0.001)
                    push_y = push_y + (y - v) / (gap * gap + 0.001)
            push_x = push_x + 0.5 / (x + 0.01) - 0.5 / (1.01 - x)
            push_y = push_y + 0.5 / (y + 0.01) - 0.5 / (1.01 - y)
            length = math.hypot(push_x, push_y) + 0.001
            moved.append((min(max(x + pace * push_x / length, 0.02), 0.98), min(max(y + pace * push_y / length, 0.02), 0.98)))
        points = moved
        pace = pace * 0.97
    return points


def radii(points):
    """Radii that fit: all grow together until they touch, then one after the other takes what is left."""
    sizes = []
    for i, (x, y) in enumerate(points):
        near = min(math.hypot(x - u, y - v) for j, (u, v) in enumerate(points) if i != j)
        sizes.append(min(near * 0.5, x, y, 1 - x, 1 - y))
    for _ in range(2):
        for i, (x, y) in enumerate(points):
            room = min(math.hypot(x - u, y - v) - sizes[j] for j, (u, v) in enumerate(points) if i != j)
            sizes[i] = max(0.0, min(room, x, y, 1 - x, 1 - y))
    return sizes


def pack(_case):
    """[[x, y, radius], ...] of 26 circles."""
    points = centers()
    return [[x, y, radius] for (x, y), radius in zip(points, radii(points), strict=True)]
# EVOLVE-BLOCK-END
