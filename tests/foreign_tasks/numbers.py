"""Tasks on numbers: base conversion, countdown, time intervals."""

# A paragraph of a statement is one line, however long.
# ruff: noqa: E501

from dataclasses import replace

from families_fixtures import seed_family

from foreign_tasks.writing import task

_TARGET = seed_family("reach-target")
BASES = task(
    "base-conversion",
    "symbolic",
    "string",
    generator="""
import random

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def input(difficulty):
    old, new = random.sample(range(2, 17), 2)
    value = random.randrange(10 ** difficulty, 10 ** (difficulty + 1))
    text = ""
    while value:
        text = DIGITS[value % old] + text
        value //= old
    return {"number": text, "old": old, "new": new}, [str(old), text, str(new)]
""",
    template="""
Your task is to convert a number between two different bases.

If the target base is larger than 10, use lowercase letters 'a' to 'z' for digits above 9.

<!-- question -->
Now, convert the base-[Input Slot 1] number [Input Slot 2] to base-[Input Slot 3]. What is the result?
""",
    reader="""
import re


def read(text):
    found = re.search(r"convert the base-(\\d+) number (\\w+) to base-(\\d+)", text)
    return {"number": found.group(2), "old": int(found.group(1)), "new": int(found.group(3))}
""",
    validators=(
        """
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def solution(inputs):
    if not isinstance(inputs, dict) or "number" not in inputs:
        return {"status": "schema_error", "detail": "number"}
    value, text = int(inputs["number"], inputs["old"]), ""
    while value:
        value, digit = divmod(value, inputs["new"])
        text = DIGITS[digit] + text
    return text
""",
        """
import string


def solution(inputs):
    if not isinstance(inputs, dict) or "number" not in inputs:
        return {"status": "schema_error", "detail": "number"}
    marks = string.digits + string.ascii_lowercase
    value = 0
    for mark in inputs["number"]:
        value = value * inputs["old"] + marks.index(mark)
    power = 1
    while power * inputs["new"] <= value:
        power *= inputs["new"]
    text = ""
    while power:
        text += marks[value // power]
        value %= power
        power //= inputs["new"]
    return text
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "number" not in inputs:
        return {"status": "schema_error", "detail": "number"}
    digits = [int(mark) if mark.isdigit() else 10 + ord(mark) - ord("a") for mark in inputs["number"]]
    result = []
    while digits:
        quotient, rest = [], 0
        for digit in digits:
            rest = rest * inputs["old"] + digit
            if quotient or rest >= inputs["new"]:
                quotient.append(rest // inputs["new"])
            rest %= inputs["new"]
        result.append(str(rest) if rest < 10 else chr(ord("a") + rest - 10))
        digits = quotient
    return "".join(reversed(result))
""",
    ),
)
_COUNTDOWN = task(
    "countdown",
    "symbolic",
    "string",
    generator=_TARGET.generator,
    template="""
Calculate a target number using all of these numbers: [Input Slot 1].

Each number may be used once only, and all of them are used. You may use the operators +, -, * and / and parentheses. Division need not give a whole number, but nothing is divided by zero. A minus before a number that has nothing on its left is not allowed.

<!-- question -->
Which expression equals [Input Slot 2]? Several may do; give one, without an equals sign.
""",
    reader="""
import json
import re


def read(text):
    cards = json.loads(re.search(r"these numbers: (\\[[\\d, ]*\\])", text).group(1))
    return {"cards": cards, "target": int(re.search(r"expression equals (\\d+)", text).group(1))}
""",
    validators=(_TARGET.validator, _TARGET.validators["subsets"], _TARGET.validators["subsets"]),
    checkers=dict(_TARGET.checkers),
)
COUNTDOWN = replace(_COUNTDOWN, validators={"subsets": _TARGET.validators["subsets"]})
_INTERVAL_TEXT = """
A train leaves at [Input Slot 1] and arrives at [Input Slot 2] on the same day.

<!-- question -->
How many minutes does the journey take?
"""
INTERVALS = task(
    "time-intervals",
    "temporal",
    "integer",
    generator="""
import random


def input(difficulty):
    start = random.randint(0, 600)
    end = start + random.randint(10, 60 * difficulty + 60)
    texts = [f"{minute // 60:02}:{minute % 60:02}" for minute in (start, end)]
    return {"start": texts[0], "end": texts[1]}, texts
""",
    template=_INTERVAL_TEXT,
    reader="""
import re


def read(text):
    found = re.search(r"leaves at (\\d\\d:\\d\\d) and arrives at (\\d\\d:\\d\\d)", text)
    return {"start": found.group(1), "end": found.group(2)}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "start" not in inputs:
        return {"status": "schema_error", "detail": "start"}
    hours, minutes = (int(inputs["end"][place:place + 2]) - int(inputs["start"][place:place + 2]) for place in (0, 3))
    return 60 * hours + minutes
""",
        """
from datetime import datetime


def solution(inputs):
    if not isinstance(inputs, dict) or "start" not in inputs:
        return {"status": "schema_error", "detail": "start"}
    first, last = (datetime.strptime(inputs[name], "%H:%M") for name in ("start", "end"))
    return int((last - first).total_seconds()) // 60
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "start" not in inputs:
        return {"status": "schema_error", "detail": "start"}
    clock, count = inputs["start"], 0
    while clock != inputs["end"]:
        hour, minute = map(int, clock.split(":"))
        hour, minute = (hour, minute + 1) if minute < 59 else (hour + 1, 0)
        clock = f"{hour:02}:{minute:02}"
        count += 1
    return count
""",
    ),
)
INTERVALS_MENDED = task(
    "time-intervals",
    "temporal",
    "integer",
    generator="""
import random


def input(difficulty):
    clock, rides = random.randint(0, 60), []
    for _ in range(1 + difficulty):
        clock += random.randint(0, 60)
        start = clock
        clock += random.randint(10, 60)
        rides.append([f"{minute // 60:02}:{minute % 60:02}" for minute in (start, clock)])
    return {"rides": rides}, ["\\n".join(f"- from {start} to {end}" for start, end in rides)]
""",
    template="""
A driver works on one day at these times:

[Input Slot 1]

<!-- question -->
How many minutes does the driver work in total?
""",
    reader="""
import re


def read(text):
    return {"rides": [list(found) for found in re.findall(r"- from (\\d\\d:\\d\\d) to (\\d\\d:\\d\\d)", text)]}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "rides" not in inputs:
        return {"status": "schema_error", "detail": "rides"}
    return sum(minutes(end) - minutes(start) for start, end in inputs["rides"])


def minutes(clock):
    return 60 * int(clock[:2]) + int(clock[3:])
""",
        """
from datetime import datetime, timedelta


def solution(inputs):
    if not isinstance(inputs, dict) or "rides" not in inputs:
        return {"status": "schema_error", "detail": "rides"}
    total = timedelta()
    for ride in inputs["rides"]:
        start, end = (datetime.strptime(clock, "%H:%M") for clock in ride)
        total += end - start
    return total // timedelta(minutes=1)
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "rides" not in inputs:
        return {"status": "schema_error", "detail": "rides"}
    count = 0
    for start, end in inputs["rides"]:
        while start != end:
            hour, minute = map(int, start.split(":"))
            start = f"{hour:02}:{minute + 1:02}" if minute < 59 else f"{hour + 1:02}:00"
            count += 1
    return count
""",
    ),
)
