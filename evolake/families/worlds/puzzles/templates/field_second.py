"""A validator of a field that goes from row to row."""

BORDER = ""
__answer__ = __constants__ = None
# --- program ---
"""From where to where each row lies in the triangle, by exact fractions."""

from fractions import Fraction
from math import ceil, floor

__constants__


def crossed(corners, y):
    """Where the edges meet the row: all ends of level edges, one place of any other."""
    found = []
    for number in range(3):
        (a, b), (c, d) = corners[number - 1], corners[number]
        if b == d == y:
            found += [Fraction(a), Fraction(c)]
        elif b != d and min(b, d) <= y <= max(b, d):
            found.append(a + Fraction((c - a) * (y - b), d - b))
    return found


def solution(inputs):
    corners, spans = inputs["corners"], {}
    heights = [y for _, y in corners]
    for y in range(min(heights), max(heights) + 1):
        places = crossed(corners, y)
        left, right = min(places), max(places)
        xs = list(range(ceil(left), floor(right) + 1))
        if BORDER == "outside":
            xs = [x for x in xs if left < x < right and not level(corners, y)]
        if BORDER == "corners":
            xs = [x for x in xs if [x, y] not in corners]
        spans[y] = xs
    __answer__


def level(corners, y):
    """Whether an edge lies in the row: then the row is an edge as a whole."""
    return [corner[1] for corner in corners].count(y) == 2
