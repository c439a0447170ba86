"""A list with `1)`."""

from families_in_other_dress.writing import family

VISITS = family(
    "visits-in-weeks",
    template=(
        "A week of the island has seven days, and today is the first day of week 1; days are counted from "
        "1, today, on.\n\n[Input Slot 1]\n\n"
        "<!-- question -->\nHow many visits are there in all on first days of weeks, up to and with day "
        "[Input Slot 2]?"
    ),
    generator="""
import random


def input(difficulty):
    visitors = [[random.randint(1, 9), random.randint(2, 4 + difficulty)] for _ in range(2 + difficulty // 2)]
    days = random.randint(40, 60) * (1 + difficulty)
    lines = [f"{number}) Visitor {number} comes on day {first}, and then every {every} days." for number, (first, every) in enumerate(visitors, 1)]
    return {"visitors": visitors, "days": days}, ["\\n".join(lines), str(days)]
""",  # noqa: E501
    reader="""
import re


def read(text):
    visitors = re.findall(r"comes on day (\\d+), and then every (\\d+) days", text)
    return {"visitors": [[int(first), int(every)] for first, every in visitors], "days": int(re.search(r"with day (\\d+)", text).group(1))}
""",  # noqa: E501
    voters={
        "primary": """
def solution(inputs):
    if not isinstance(inputs, dict) or {"visitors", "days"} - set(inputs):
        return {"status": "schema_error", "detail": "visitors, days"}
    return sum(day % 7 == 1 for first, every in inputs["visitors"] for day in range(first, inputs["days"] + 1, every))
""",  # noqa: E501
        "calendar": """
def solution(inputs):
    try:
        days, visitors = range(1, inputs["days"] + 1, 7), inputs["visitors"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "visitors, days"}
    count = 0
    for day in days:
        for first, every in visitors:
            if day >= first and not (day - first) % every:
                count += 1
    return count
""",
        "walking": """
WEEK = 7


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("visitors"), list):
        return {"status": "schema_error", "detail": "visitors, days"}
    total = 0
    for first, every in inputs["visitors"]:
        place, day = (first - 1) % WEEK, first
        while day <= inputs["days"]:
            total += place == 0
            place, day = (place + every) % WEEK, day + every
    return total
""",
    },
)
