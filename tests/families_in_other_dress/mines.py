"""A row of signs."""

from families_in_other_dress.writing import family

MINES = family(
    "mines-in-a-row",
    template=(
        "Fields lie in a row. A field with a number has no mine; its number says how many of the fields "
        "right beside it have one. A field with a question mark is covered and may have a mine. From left "
        "to right: [Input Slot 1]\n\nExactly [Input Slot 2] fields have a mine.\n\n"
        "<!-- question -->\nIn how many ways can the mines lie?"
    ),
    generator="""
import random


def input(difficulty):
    while True:
        mines = [random.random() < 0.45 for _ in range(8 + difficulty)]
        row = []
        for place, mine in enumerate(mines):
            beside = sum(mines[max(place - 1, 0) : place + 2])
            row.append("?" if mine or random.random() < 0.7 else beside)
        if sum(mines) and row.count("?") > sum(mines):
            return {"row": row, "mines": sum(mines)}, [" ".join(map(str, row)), str(sum(mines))]
""",
    reader="""
import re


def read(text):
    row = re.search(r"left to right: ([?\\d ]+)", text).group(1).split()
    return {"row": [sign if sign == "?" else int(sign) for sign in row], "mines": int(re.search(r"Exactly (\\d+) fields", text).group(1))}
""",  # noqa: E501
    voters={
        "primary": """
from itertools import combinations


def solution(inputs):
    if not isinstance(inputs, dict) or {"row", "mines"} - set(inputs):
        return {"status": "schema_error", "detail": "row, mines"}
    row = inputs["row"]
    covered = [place for place, sign in enumerate(row) if sign == "?"]
    count = 0
    for chosen in combinations(covered, inputs["mines"]):
        held = set(chosen)
        count += all(sign == "?" or (place - 1 in held) + (place + 1 in held) == sign for place, sign in enumerate(row))
    return count
""",  # noqa: E501
        "states": """
from collections import Counter


def solution(inputs):
    try:
        row, mines = inputs["row"], inputs["mines"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "row, mines"}
    states = Counter({(0, None, 0): 1})
    for sign in row:
        following = Counter()
        for (before, owed, used), ways in states.items():
            for mine in (0, 1) if sign == "?" else (0,):
                if owed is not None and owed != mine:
                    continue
                after = None if sign == "?" else sign - before
                if after is None or 0 <= after <= 1:
                    following[mine, after, used + mine] += ways
        states = following
    return sum(ways for (_, owed, used), ways in states.items() if used == mines and owed in (None, 0))
""",
        "placing": """
def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("row"), list):
        return {"status": "schema_error", "detail": "row, mines"}
    row, length = inputs["row"], len(inputs["row"])

    def fits(mines, place):
        if place < 0 or row[place] == "?":
            return True
        return mines[place - 1 if place else length] + mines[place + 1] == row[place]

    def ways(mines, place, left):
        if place == length:
            return int(left == 0 and fits(mines, place - 1))
        total = 0
        for mine in (0, 1):
            if mine and (row[place] != "?" or not left):
                continue
            mines[place] = mine
            if fits(mines, place - 1):
                total += ways(mines, place + 1, left - mine)
        mines[place] = 0
        return total

    return ways([0] * (length + 1), 0, inputs["mines"])
""",
    },
)
