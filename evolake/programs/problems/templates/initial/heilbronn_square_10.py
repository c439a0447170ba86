"""10 points in the unit square whose smallest triangle is as large as possible."""

import math


def build(case):
    """Return the points as [x, y]: two rings."""
    points = []
    for k in range(10):
        size = 0.5 if k % 2 else 0.3
        angle = 0.1 + math.pi * k / 5
        points.append([0.5 + size * math.cos(angle), 0.5 + size * math.sin(angle)])
    return points
