"""A checker of chains that looks at whole rows."""

MEET = TURN = ""
rows = []
__answer__ = __constants__ = None
# --- program ---
"""Every row that the answer can mean is looked at as a whole."""

from collections import Counter
from itertools import product

__constants__


def ways_of(one, other):
    if TURN == "ahead":
        return [(one, other)]
    return [(other, one)] if TURN == "back" else [(one, other), (other, one)]


def plain(pair):
    return tuple(sorted(pair)) if TURN == "free" else tuple(pair)


def touches(before, after):
    if MEET == "same":
        return before[1] == after[0]
    return before[1] + after[0] == 7 if MEET == "sum" else abs(before[1] - after[0]) == 1


def check(inputs, answer):
    stones = inputs["stones"]
    by_letter = {letter: ways_of(one, other) for letter, one, other in stones}
    __answer__
    return any(all(map(touches, row, row[1:])) for row in rows)
