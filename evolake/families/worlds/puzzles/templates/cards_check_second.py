"""A checker of cards that marks the row."""

NEAR = COUNT = marks = ""
__answer__ = __constants__ = None
# --- program ---
"""Marks the picked cards in a text of the row, and reads the text."""

import re

__constants__


def check(inputs, answer):
    row, total = inputs["row"], inputs["total"]
    __answer__
    for amount, mark in zip(row, marks):
        total -= amount * (mark == "x")
    runs = [len(run) for run in re.findall("x+", marks)]
    near = {"apart": set(runs) <= {1}, "linked": 1 not in runs, "ends": bool(re.fullmatch(r"x.*\.|\..*x", marks))}
    many = {"few": sum(runs) < 6, "even": sum(runs) in range(0, 99, 2), "odd": sum(runs) in range(1, 99, 2)}
    return not total and near[NEAR] and many[COUNT]
