"""Exact arithmetic for evaluators: what a program returned as fractions, so that no rounding decides whether a configuration is valid.

A float is a fraction with a power of two as its denominator, so nothing is lost. Programs that compute with floats
touch borders with errors of about 1e-16. Evaluators therefore first shrink what they are given by MARGIN. They check
and score the result, which is either a valid configuration or refused.
"""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

MARGIN = Fraction(1, 2**40)
"""About 9.1e-13, relative."""
LARGEST = 1e9
MOST = 10_000
"""Numbers, or rows, of an output."""


def table(given, rows, columns):
    """Return a list of `rows` lists of `columns` fractions; None for anything else, such as NaN, texts, truth values or huge numbers."""
    if not isinstance(given, list) or len(given) != rows:
        return None
    if not all(isinstance(row, list) and len(row) == columns and all(map(is_number, row)) for row in given):
        return None
    return [[Fraction(value) for value in row] for row in given]


def whole(given, low, high, columns=0):
    """Return a list of whole numbers, or of rows of so many, as it is; None for anything else, too much, or numbers beyond the limits."""
    rows = given if columns else [given]
    if not isinstance(given, list) or len(given) > MOST:
        return None
    if not all(isinstance(row, list) and len(row) == (columns or len(given)) for row in rows):
        return None
    return given if all(type(value) is int and low <= value <= high for row in rows for value in row) else None


def is_number(value):
    """Return whether a value is a finite number of a size that can be computed with."""
    if type(value) is int:
        return abs(value) <= LARGEST
    return type(value) is float and math.isfinite(value) and abs(value) <= LARGEST


def at_most(value):
    """Return the largest float that is not above a fraction."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def at_least(value):
    """Return the smallest float that is not below a fraction."""
    return -at_most(-value)


def output_of(results):
    """Return what the program returned for the one case; None if it failed."""
    return results[0]["output"] if len(results) == 1 and results[0]["status"] == "ok" else None


@lru_cache
def places(count, of):
    """Return the places of all pairs, or threes, of so many things, as one array for each of the places."""
    import numpy as np

    return np.array(list(combinations(range(count), of))).T
