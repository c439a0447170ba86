"""15 points on a sphere whose smallest angle is as large as possible. Vectors of any length point to them."""

import math


def build(case):
    """Return the vectors: a spiral from one pole to the other."""
    points = []
    for k in range(15):
        z = 1 - (2 * k + 1) / 15
        angle = 2.4 * k
        across = math.sqrt(1 - z * z)
        points.append([across * math.cos(angle), across * math.sin(angle), z])
    return points
