"""Autocorrelation inequalities for step functions, computed in whole numbers.

A step function with n heights on an interval of length 1/2 has an autoconvolution that is linear between its 2n + 1
knots. So its largest value, its integral and that of its square follow exactly from the values at the knots. The
heights are first rounded to multiples of 2**-30; it is the rounded function that is scored.
"""

import itertools
from fractions import Fraction

from exact import at_least, at_most, output_of, table

UNIT = 2**30
WORST, FEWEST, MOST = 100.0, 2, 10_000


def heights_of(results, *, signed=False):
    """Return the heights as whole numbers; None if they are no list of FEWEST to MOST numbers with a positive sum.

    signed: whether negative heights are allowed.
    """
    given = output_of(results)
    if not isinstance(given, list) or not FEWEST <= len(given) <= MOST:
        return None
    rows = table([given], 1, len(given))
    if rows is None:
        return None
    heights = [round(value * UNIT) for value in rows[0]]
    if sum(heights) <= 0 or (not signed and min(heights) < 0):
        return None
    return heights


def knots(heights):
    """Return the sums of products of heights at the inner knots: entry k is the sum of a_i a_j over i + j = k.

    The heights are the digits of one long number, and the knots those of its square, so that thousands are quick.
    """
    count = 2 * len(heights) - 1
    size = (len(heights) * max(map(abs, heights)) ** 2).bit_length() // 8 + 1  # bytes of a digit, with a bit for its sign
    raised = 1 << 8 * size - 1

    def number(digits):
        return int.from_bytes(b"".join(digit.to_bytes(size, "little") for digit in digits), "little")

    def ones(places):
        return raised * number([1] * places)

    whole = number([height + raised for height in heights]) - ones(len(heights))
    found = (whole * whole + ones(count)).to_bytes(count * size, "little")
    return [int.from_bytes(found[start : start + size], "little") - raised for start in range(0, count * size, size)]


def first_constant(results):
    """Return the largest value of f * f over the squared integral of f >= 0 on [-1/4, 1/4]: an upper bound, lower is better."""
    heights = heights_of(results)
    if heights is None:
        return {"constant": WORST}
    return {"constant": at_least(Fraction(2 * len(heights) * max(knots(heights)), sum(heights) ** 2))}


def second_constant(results):
    """Return the integral of (f * f)**2 over its largest value and its integral, f >= 0: a lower bound, higher is better."""
    heights = heights_of(results)
    if heights is None:
        return {"constant": 0.0}
    inner = knots(heights)
    values = [0, *inner, 0]
    squares = sum(a * a + a * b + b * b for a, b in itertools.pairwise(values))
    return {"constant": at_most(Fraction(squares, 3 * max(inner) * sum(inner)))}


def third_constant(results):
    """Return the largest absolute value of f * f over the squared integral of f on [-1/4, 1/4], f of any sign: an upper bound, lower is better."""
    heights = heights_of(results, signed=True)
    if heights is None:
        return {"constant": WORST}
    return {"constant": at_least(Fraction(2 * len(heights) * max(map(abs, knots(heights))), sum(heights) ** 2))}
