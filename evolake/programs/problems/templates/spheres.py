"""Directions in space, compared exactly: vectors of any length stand for the points of a sphere that they point to."""

import math
from fractions import Fraction
from itertools import combinations

from exact import output_of, places, table

WORST, MOST_VECTORS = 1.0, 500


def cosines(rows):
    """Yield the cosine of the angle between each two vectors, times its size: a fraction, unlike the cosine itself."""
    lengths = [sum(value * value for value in row) for row in rows]
    for (one, own), (other, length) in combinations(zip(rows, lengths, strict=True), 2):
        product = sum(a * b for a, b in zip(one, other, strict=True))
        yield product * abs(product) / (own * length)


def kissing(results, dimensions):
    """Return the number of vectors, of which no two are less than 60 degrees apart; 0 if two are. Spheres of one size that touch another lie so."""
    given = output_of(results)
    rows = table(given, len(given), dimensions) if isinstance(given, list) and len(given) <= MOST_VECTORS else None
    if not rows or not all(map(any, rows)) or any(4 * cosine > 1 for cosine in cosines(rows)):
        return {"spheres": 0}
    return {"spheres": len(rows)}


def largest_cosine(results, count):
    """Return the cosine of the smallest angle between two of `count` vectors in space, more than 6; 1 if the output is invalid."""
    rows = table(output_of(results), count, 3)
    if rows is None or not all(map(any, rows)):
        return {"cosine": WORST}
    square = max(cosines(rows))
    found = math.sqrt(square)
    while Fraction(found) ** 2 < square:
        found = math.nextafter(found, math.inf)
    return {"cosine": found}


def smooth_cosines(output):
    """Return (terms, limits) for a polish: the cosines of all pairs, below 0; there are no limits."""
    import numpy as np

    points = np.asarray(output, float)
    points = points / np.linalg.norm(points, axis=1)[:, None]
    one, other = places(len(points), 2)
    return -np.sum(points[one] * points[other], axis=1), []
