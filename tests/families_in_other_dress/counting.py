"""The word "None" in the prose."""

from families_in_other_dress.writing import family

COUNTING = family(
    "none-is-out",
    template=(
        "[Input Slot 1] children, numbered from 1, stand in a circle and count. None of them is out at "
        "first. They count from child 1 on, one number a child, always in the direction of rising numbers "
        "and after the last one with the first one again; whoever says [Input Slot 2] is out, and the "
        "next child that is still in begins with 1.\n\n<!-- question -->\nWhich child is the last one "
        "that is still in?"
    ),
    generator="""
import random


def input(difficulty):
    children, number = random.randint(3, 9) + 3 * difficulty, random.randint(2, 9 + 2 * difficulty)
    return {"children": children, "number": number}, [str(children), str(number)]
""",
    reader="""
import re


def read(text):
    return {"children": int(re.search(r"(\\d+) children", text).group(1)), "number": int(re.search(r"whoever says (\\d+) is", text).group(1))}
""",  # noqa: E501
    voters={
        "primary": """
def solution(inputs):
    if not isinstance(inputs, dict) or {"children", "number"} - set(inputs):
        return {"status": "schema_error", "detail": "children, number"}
    place = 0
    for size in range(2, inputs["children"] + 1):
        place = (place + inputs["number"]) % size
    return place + 1
""",
        "circle": """
from collections import deque


def solution(inputs):
    try:
        circle, number = deque(range(1, inputs["children"] + 1)), inputs["number"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "children, number"}
    while len(circle) > 1:
        circle.rotate(1 - number)
        circle.popleft()
    return circle[0]
""",
        "saying": """
def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("children"), int):
        return {"status": "schema_error", "detail": "children, number"}
    inside = [True] * inputs["children"]
    said, child, left = 0, 0, len(inside)
    while left > 1:
        if inside[child]:
            said += 1
            if said == inputs["number"]:
                inside[child], said, left = False, 0, left - 1
        child = (child + 1) % len(inside)
    return inside.index(True) + 1
""",
    },
)
