"""Unit regular hexagons in a regular hexagon, checked by whole numbers with a proven bound of every rounding.

The corners of a hexagon involve sines and square roots, which have no exact fractions. Each corner is computed with
floats and rounded to a grid of 2**-50; with numbers of at most 100 it is then off by less than ERROR. Two hexagons are
disjoint if in some direction their corners are further apart than the errors can make up. A direction is whole numbers,
taken as they are, so that its own rounding does not matter. The centers are moved apart by APART before, so that
hexagons which touch by rounding are still separated.
"""

import math
from fractions import Fraction
from itertools import pairwise

from exact import at_least, output_of, places, table

WORST, FARTHEST = 100.0, 100
GRID = 2**50
ERROR = Fraction(1, 2**44)
"""A corner is x + cos(turn): the turn is off by less than 2**-46 (pi and a sum), the cosine by 2**-53, the sum by 2**-47,
and the grid takes 2**-51."""
APART = 2**-38
"""Relative. Touching hexagons have centers at least the root of 3 apart, so it gives them a gap of 6e-12 across an edge
that they share; the errors of both take at most 2e-13 of it."""
BELOW_ROOT_3 = Fraction(17320508075688772, 10**16)


def outer_side(results, count):
    """Return the side of a regular hexagon around the origin that holds `count` disjoint unit hexagons; WORST if invalid.

    It has corners at 0, 60, ... degrees. The program returned [x, y, angle] of each hexagon: its center, and how far it
    is turned from there, in radians.
    """
    rows = table(output_of(results), count, 3)
    if rows is None or any(abs(value) > FARTHEST for row in rows for value in row):
        return {"side": WORST}
    hexagons = [corners(*map(float, row)) for row in rows]
    if not all(disjoint(one, other) for place, one in enumerate(hexagons) for other in hexagons[:place]):
        return {"side": WORST}
    return {"side": min(at_least(max(map(side_around, hexagons))), WORST)}


def corners(x, y, angle):
    """Return the corners on the grid, with the center moved outwards."""
    x, y = x * (1 + APART), y * (1 + APART)
    turns = [angle + k * math.pi / 3 for k in range(6)]
    return [(round((x + math.cos(turn)) * GRID), round((y + math.sin(turn)) * GRID)) for turn in turns]


def disjoint(one, other):
    """Return whether a normal of an edge of either hexagon certainly separates them."""
    return any(separates(normal, one, other) for normal in (*normals(one), *normals(other)))


def normals(points):
    """Return a direction across each of three edges; the others are parallel to them."""
    return [(b[1] - a[1], a[0] - b[0]) for a, b in pairwise(points[:4])]


def separates(normal, one, other):
    """Return whether one hexagon lies before the other in a direction, either way, by more than the errors of both."""
    first, second = ([normal[0] * x + normal[1] * y for x, y in points] for points in (one, other))
    gap = max(min(second) - max(first), min(first) - max(second))
    return gap > 2 * (abs(normal[0]) + abs(normal[1])) * ERROR * GRID


def side_around(points):
    """Return a side that is certainly large enough for the hexagon around the origin to hold the points."""
    places = [(Fraction(abs(x), GRID) + ERROR, Fraction(abs(y), GRID) + ERROR) for x, y in points]
    return max(max(2 * y / BELOW_ROOT_3, x + y / BELOW_ROOT_3) for x, y in places)


def smooth_side(output):
    """Return (terms, limits) for a polish: what each corner asks of the side, below 0; and for each pair the gap across the
    edge that separates it best."""
    import numpy as np

    x, y, turn = np.asarray(output, float).T
    steps = np.arange(6) * math.pi / 3
    across, up = x[:, None] + np.cos(turn[:, None] + steps), y[:, None] + np.sin(turn[:, None] + steps)
    ways = turn[:, None] + math.pi / 6 + steps
    right, high = np.cos(ways)[:, None, :, None], np.sin(ways)[:, None, :, None]
    far = right * (across[None] - x[:, None, None])[:, :, None] + high * (up[None] - y[:, None, None])[:, :, None]
    gaps = (far.min(axis=3) - math.sqrt(3) / 2).max(axis=2)
    one, other = places(len(x), 2)
    across, down = np.abs(across).ravel(), np.abs(up).ravel()
    sides = np.concatenate([2 * down / math.sqrt(3), across + down / math.sqrt(3)])
    return -sides, np.maximum(gaps, gaps.T)[one, other]
