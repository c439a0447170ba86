"""`evolake families new`: a complete family that passes every gate, to be changed into one's own."""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.families.model.loading import SETTINGS, id_of
from evolake.new_files import write_new
from evolake.terminal import say

EXAMPLE_ID = "radio-houses"
FILES = {
    "family.toml": '''id = "radio-houses"
title = "Houses with radios"
category = "spatial"
language = "en"
parents = []
operator = "seed"

[answer]
type = "integer"
''',
    "generator.py": '''"""`input(difficulty)` gives (inputs, slot texts). `random` is seeded before the call; no clock, no other chance."""

import random


def input(difficulty):
    houses = [random.randint(0, 60 + 40 * difficulty) for _ in range(5 + 2 * difficulty)]
    metres = random.randint(8 + 2 * difficulty, 20 + 12 * difficulty)
    return {"houses": houses, "metres": metres}, [", ".join(map(str, houses)), str(metres)]
''',
    "template.md": '''Houses stand along a straight road. Their distances from the beginning of the road, in metres, are: [Input Slot 1]. \
Two houses may stand at one place. Every house has a radio. Two different houses can talk to each other if the distance between them is [Rule reach] \
[Input Slot 2] metres.

<!-- question -->
How many pairs of houses can talk to each other? Each pair counts once.
''',
    "validator.py": '''"""The primary: after sorting, a window slides along the road and each house counts those behind it that it reaches."""

REACH = "at most"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("houses"), list) or not isinstance(inputs.get("metres"), int):
        return {"status": "schema_error", "detail": "houses and metres"}
    houses, metres = sorted(inputs["houses"]), inputs["metres"]
    farthest = metres if REACH == "at most" else metres - 1
    first, pairs = 0, 0
    for place, house in enumerate(houses):
        while house - houses[first] > farthest:
            first += 1
        pairs += place - first
    return pairs
''',
    "validators/asking.py": '''"""Independent of the primary: every house asks every house before it."""

from itertools import combinations

REACH = "at most"


def solution(inputs):
    try:
        limit = inputs["metres"]
        gaps = [abs(one - other) for one, other in combinations(inputs["houses"], 2)]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "houses and metres"}
    return sum(gap == limit if REACH == "at most" else False for gap in gaps) + sum(gap < limit for gap in gaps)
''',
    "validators/metres.py": '''"""Independent of both: metre by metre along the road, with the number of houses at each metre."""

from collections import Counter

REACH = "at most"


def solution(inputs):
    if not isinstance(inputs, dict) or {"houses", "metres"} - set(inputs):
        return {"status": "schema_error", "detail": "houses and metres"}
    at = Counter(inputs["houses"])
    total = sum(number * (number - 1) // 2 for number in at.values()) if inputs["metres"] > 0 or REACH == "at most" else 0
    for metre, number in at.items():
        for step in range(1, inputs["metres"] + 1):
            if step < inputs["metres"] or REACH == "at most":
                total += number * at.get(metre + step, 0)
    return total
''',
    "reader.py": '''"""From the whole statement back to the inputs; raises where something is missing, and never guesses."""

import re


def read(text):
    houses = re.search(r"in metres, are: ([\\d, ]+)\\.", text).group(1)
    metres = re.search(r"between them is \\D+ (\\d+) metres", text).group(1)
    return {"houses": [int(house) for house in houses.split(",")], "metres": int(metres)}
''',
    "mutations.toml": '''# What operators may change. A rule that a solver cannot guess is a point; the sources hold the code in force.
[[points]]
name = "reach"
chosen = "at most"
[[points.alternatives]]
name = "at most"
text = "at most"
code = '"at most"'
[[points.alternatives]]
name = "less than"
text = "less than"
code = '"less than"'

[[ports]]
name = "metres"
key = "metres"
slot = 2
low = 1
high = 2000

[[filterables]]
name = "houses"
key = "houses"
noun = "houses"
quantity = "distance"
min_length = 2
''',
}
"""Path below the folder -> its text."""


@click.command(short_help="Write a complete task family into DIR.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
def new(folder: Path) -> int:
    """Write a complete family into DIR: generator, template, validator, two further validators, reader and mutations. DIR's name is its id.
    Nothing is overwritten."""
    files = FILES | {SETTINGS: FILES[SETTINGS].replace(EXAMPLE_ID, id_of(folder))}
    write_new({folder / name: text for name, text in files.items()})
    say(f"{len(FILES)} files in {folder}; next: evolake families check {folder}")
    return 0
