"""A validator of cards that joins halves."""

NEAR = COUNT = ""
__answer__ = __constants__ = None
# --- program ---
"""All choices of the left half and of the right half, joined where their sums make up the total (after Horowitz and Sahni 1974)."""

import re
from itertools import product

__constants__
ALONE = re.compile("(?<!1)1(?!1)")
NEAR_RIGHT = {"apart": lambda marks: "11" not in marks, "linked": lambda marks: not ALONE.search(marks),
              "ends": lambda marks: {marks[0], marks[-1]} == {"0", "1"}}
COUNT_RIGHT = {"even": lambda ones: not ones & 1, "odd": lambda ones: ones & 1, "few": lambda ones: ones in range(6)}


def solution(inputs):
    row = inputs["row"]
    middle = len(row) // 2
    sums = []
    for half in (row[:middle], row[middle:]):
        table = {}
        for marks in product("01", repeat=len(half)):
            table.setdefault(sum(amount for amount, mark in zip(half, marks) if mark == "1"), []).append("".join(marks))
        sums.append(table)
    joined = (
        one + other for amount, some in sums[0].items() for one in some for other in sums[1].get(inputs["total"] - amount, [])
    )
    marks = next(marks for marks in joined if NEAR_RIGHT[NEAR](marks) and COUNT_RIGHT[COUNT](marks.count("1")))
    __answer__
