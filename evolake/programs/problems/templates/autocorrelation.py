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


def knots(heights, others=None):
    """Return the sums of products of heights at the inner knots: entry k is the sum of a_i b_j over i + j = k; without others, of a_i a_j.

    The heights are the digits of one long number, and the knots those of its square, so that thousands are quick.
    """
    count = 2 * len(heights) - 1
    size = (len(heights) * max(map(abs, heights)) ** 2).bit_length() // 8 + 1  # bytes of a digit, with a bit for its sign
    raised = 1 << 8 * size - 1

    def number(digits):
        return int.from_bytes(b"".join(digit.to_bytes(size, "little") for digit in digits), "little")

    def ones(places):
        return raised * number([1] * places)

    one, other = (number([height + raised for height in some]) - ones(len(heights)) for some in (heights, others or heights))
    found = (one * other + ones(count)).to_bytes(count * size, "little")
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


def overlap(results):
    """Return the largest overlap of f and 1 - f, shifted against each other, of f on [0, 2] with values in [0, 1]: an upper bound, lower is better.

    The heights are scaled so that the integral of f is 1.
    """
    heights = heights_of(results)
    if heights is None or max(heights) * len(heights) > 2 * sum(heights):
        return {"overlap": WORST}
    whole, products = sum(heights), knots(heights, heights[::-1])
    first = list(itertools.accumulate(heights))
    parts = [*first, *(whole - part for part in first[:-1])]
    largest = max(2 * whole * part - len(heights) * product for part, product in zip(parts, products, strict=True))
    return {"overlap": at_least(Fraction(largest, 2 * whole**2))}


def smooth_overlap(output):
    """Return (terms, limits) for a polish of the overlap: one term for each shift; the scaled heights are in [0, 1]."""
    import numpy as np

    heights = np.asarray(output, float)
    heights = heights * len(heights) / 2 / heights.sum()
    return -2 / len(heights) * np.correlate(heights, 1 - heights, "full"), np.concatenate([heights, 1 - heights])


def smooth_knots(output, kind):
    """Return (terms, limits) for a polish of the first, second or third constant: one term for each knot, larger is better."""
    import numpy as np

    heights = np.asarray(output, float)
    found = np.convolve(heights, heights)
    if kind == 2:
        ends = np.concatenate([[0], found, [0]])
        squares = np.sum(ends[:-1] ** 2 + ends[:-1] * ends[1:] + ends[1:] ** 2)
        return np.minimum(squares / (3 * np.maximum(found, 1e-9) * found.sum()), 2), heights
    terms = -2 * len(heights) * found / heights.sum() ** 2
    return (terms, heights) if kind == 1 else (np.concatenate([terms, -terms]), [])
