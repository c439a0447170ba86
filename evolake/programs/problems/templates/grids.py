"""Points of which no three are in line: in a square grid, and in the space of vectors over three elements."""

from math import gcd

from exact import output_of, whole


def cap(results, dimensions):
    """Return the number of vectors, of which no three different ones add up to 0 modulo 3; 0 if three do, or the output is invalid.

    A vector is a number below 3**dimensions: its digits in base 3.
    """
    import numpy as np

    numbers = whole(output_of(results), 0, 3**dimensions - 1)
    if not numbers or len(set(numbers)) < len(numbers):
        return {"size": 0}
    powers, inside = 3 ** np.arange(dimensions), np.zeros(3**dimensions, bool)
    vectors = np.array(numbers)[:, None] // powers % 3
    inside[numbers] = True
    for vector in vectors:
        if inside[-(vectors + vector) % 3 @ powers].sum() > 1:  # itself is one: three times a vector is 0
            return {"size": 0}
    return {"size": len(numbers)}


def no_three_in_line(results, side):
    """Return the number of points [x, y] of a grid with `side` points a side; 0 if three are in line, or the output is invalid."""
    points = whole(output_of(results), 0, side - 1, 2)
    if not points or len(points) > 2 * side:
        return {"points": 0}
    for place, (x, y) in enumerate(points):
        steps = [(x - u, y - v) for u, v in points[:place]]
        if (0, 0) in steps:
            return {"points": 0}
        ways = {(a // gcd(a, b), b // gcd(a, b)) if (a, b) > (0, 0) else (-a // gcd(a, b), -b // gcd(a, b)) for a, b in steps}
        if len(ways) < len(steps):
            return {"points": 0}
    return {"points": len(points)}
