"""A Markdown table."""

from families_in_other_dress.writing import family

MEETINGS = family(
    "meeting-table",
    template=(
        "These meetings could take place in one room:\n\n[Input Slot 1]\n\nSome of them are chosen. Never "
        "two of the chosen meetings overlap; one may begin in the very minute in which another ends.\n\n"
        "<!-- question -->\nHow many of them can be chosen at most?"
    ),
    generator="""
import random


def input(difficulty):
    meetings = []
    for _ in range(4 + difficulty):
        start = random.randint(0, 20 + 4 * difficulty)
        meetings.append([start, start + random.randint(3, 14)])
    lines = [f"| {number} | {start} | {end} |" for number, (start, end) in enumerate(meetings, start=1)]
    return {"meetings": meetings}, ["\\n".join(["| meeting | from minute | to minute |", "|---|---|---|", *lines])]
""",  # noqa: E501
    reader="""
import re

SENTENCES = {
    "These meetings could take place in one room:": "always",
    "| meeting | from minute | to minute |": "always",
    "|---|---|---|": "always",
    "| {number} | {start} | {end} |": "",
    "Some of them are chosen.": "always",
    "Never two of the chosen meetings overlap;": "overlap",
    "one may begin in the very minute in which another ends.": "always",
    "How many of them can be chosen at most?": "always",
}


def read(text):
    return {"meetings": [[int(start), int(end)] for start, end in re.findall(r"\\| \\d+ \\| (\\d+) \\| (\\d+) \\|", text)]}
""",  # noqa: E501
    voters={
        "primary": """
def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("meetings"), list):
        return {"status": "schema_error", "detail": "meetings"}

    def most(left, chosen):
        if not left:
            return len(chosen)
        first, *rest = left
        without = most(rest, chosen)
        return without if any(overlap(first, other) for other in chosen) else max(without, most(rest, [*chosen, first]))

    return most(inputs["meetings"], [])
""",  # noqa: E501
        "greedy": """
def solution(inputs):
    try:
        meetings = sorted(inputs["meetings"], key=lambda meeting: meeting[1])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "meetings"}
    count, free = 0, -1
    for start, end in meetings:
        if start >= free:
            count, free = count + 1, end
    return count
""",
        "minutes": """
def solution(inputs):
    if not isinstance(inputs, dict) or "meetings" not in inputs:
        return {"status": "schema_error", "detail": "meetings"}
    best = [0]
    for minute in range(1, max(end for _, end in inputs["meetings"]) + 1):
        ending = [best[start] + 1 for start, end in inputs["meetings"] if end == minute]
        best.append(max([best[-1], *ending]))
    return best[-1]
""",
    },
)
