"""Loose brackets in a run of signs."""

from families_in_other_dress.writing import family

BRACKETS = family(
    "loose-brackets",
    template=(
        "Somebody has typed these round brackets without any care, read from left to right: [Input Slot "
        "1]\n\n"
        "A closing bracket becomes the partner of the latest opening one that has no partner yet; where "
        "there is none, it stays alone.\n\n"
        "<!-- question -->\nHow many of all these brackets are alone in the end?"
    ),
    generator="""
import random


def input(difficulty):
    signs = "".join(random.choice("()") for _ in range(6 + 5 * difficulty))
    return {"signs": signs}, [signs]
""",
    reader="""
import re


def read(text):
    if "partner of the latest opening one" not in text:
        raise ValueError("another statement")
    return {"signs": re.search(r"left to right: ([()]+)", text).group(1)}
""",
    voters={
        "primary": """
def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("signs"), str):
        return {"status": "schema_error", "detail": "signs"}
    waiting = alone = 0
    for sign in inputs["signs"]:
        if sign == "(":
            waiting += 1
        elif waiting:
            waiting -= 1
        else:
            alone += 1
    return waiting + alone
""",
        "rubbing": """
def solution(inputs):
    try:
        signs = inputs["signs"] + ""
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "signs"}
    while "()" in signs:
        signs = signs.replace("()", "")
    return len(signs)
""",
        "heights": """
from itertools import accumulate


def solution(inputs):
    if not isinstance(inputs, dict) or "signs" not in inputs:
        return {"status": "schema_error", "detail": "signs"}
    heights = list(accumulate((1 if sign == "(" else -1 for sign in inputs["signs"]), initial=0))
    return heights[-1] - min(heights) - min(heights)
""",
    },
)
