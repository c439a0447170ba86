"""Sound families whose statements look unlike the seeds': loose brackets, a Markdown table, a list with `1)`, an edge list, the word "None", rows of
signs; and for five of them one fault of text against code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from evolake.families.model.contract import Family
from evolake.families.model.loading import make_family


def family(name: str, *, generator: str, template: str, reader: str, voters: Mapping[str, str]) -> Family:
    """voters: the primary first."""
    (_, primary), *others = voters.items()
    return make_family(
        name, name=name, title=name, category="logical", language="en", generator=generator, template=template, validator=primary,
        validators=dict(others), reader=reader, answer={"type": "integer"}, parents=[], operator="written", mutations={},
    )


BRACKETS = family(
    "loose-brackets",
    template=(
        "Somebody has typed these round brackets without any care, read from left to right: [Input Slot 1]\n\n"
        "A closing bracket becomes the partner of the latest opening one that has no partner yet; where there is none, it stays alone.\n\n"
        "<!-- question -->\nHow many of all these brackets are alone in the end?"
    ),
    generator='''
import random


def input(difficulty):
    signs = "".join(random.choice("()") for _ in range(6 + 5 * difficulty))
    return {"signs": signs}, [signs]
''',
    reader='''
import re


def read(text):
    if "partner of the latest opening one" not in text:
        raise ValueError("another statement")
    return {"signs": re.search(r"left to right: ([()]+)", text).group(1)}
''',
    voters={
        "primary": '''
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
''',
        "rubbing": '''
def solution(inputs):
    try:
        signs = inputs["signs"] + ""
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "signs"}
    while "()" in signs:
        signs = signs.replace("()", "")
    return len(signs)
''',
        "heights": '''
from itertools import accumulate


def solution(inputs):
    if not isinstance(inputs, dict) or "signs" not in inputs:
        return {"status": "schema_error", "detail": "signs"}
    heights = list(accumulate((1 if sign == "(" else -1 for sign in inputs["signs"]), initial=0))
    return heights[-1] - min(heights) - min(heights)
''',
    },
)
MEETINGS = family(
    "meeting-table",
    template=(
        "These meetings could take place in one room:\n\n[Input Slot 1]\n\nSome of them are chosen. Never two of the chosen meetings overlap; one "
        "may begin in the very minute in which another ends.\n\n<!-- question -->\nHow many of them can be chosen at most?"
    ),
    generator='''
import random


def input(difficulty):
    meetings = []
    for _ in range(4 + difficulty):
        start = random.randint(0, 20 + 4 * difficulty)
        meetings.append([start, start + random.randint(3, 14)])
    lines = [f"| {number} | {start} | {end} |" for number, (start, end) in enumerate(meetings, start=1)]
    return {"meetings": meetings}, ["\\n".join(["| meeting | from minute | to minute |", "|---|---|---|", *lines])]
''',
    reader='''
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
''',
    voters={
        "primary": '''
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
''',
        "greedy": '''
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
''',
        "minutes": '''
def solution(inputs):
    if not isinstance(inputs, dict) or "meetings" not in inputs:
        return {"status": "schema_error", "detail": "meetings"}
    best = [0]
    for minute in range(1, max(end for _, end in inputs["meetings"]) + 1):
        ending = [best[start] + 1 for start, end in inputs["meetings"] if end == minute]
        best.append(max([best[-1], *ending]))
    return best[-1]
''',
    },
)
VISITS = family(
    "visits-in-weeks",
    template=(
        "A week of the island has seven days, and today is the first day of week 1; days are counted from 1, today, on.\n\n[Input Slot 1]\n\n"
        "<!-- question -->\nHow many visits are there in all on first days of weeks, up to and with day [Input Slot 2]?"
    ),
    generator='''
import random


def input(difficulty):
    visitors = [[random.randint(1, 9), random.randint(2, 4 + difficulty)] for _ in range(2 + difficulty // 2)]
    days = random.randint(40, 60) * (1 + difficulty)
    lines = [f"{number}) Visitor {number} comes on day {first}, and then every {every} days." for number, (first, every) in enumerate(visitors, 1)]
    return {"visitors": visitors, "days": days}, ["\\n".join(lines), str(days)]
''',
    reader='''
import re


def read(text):
    visitors = re.findall(r"comes on day (\\d+), and then every (\\d+) days", text)
    return {"visitors": [[int(first), int(every)] for first, every in visitors], "days": int(re.search(r"with day (\\d+)", text).group(1))}
''',
    voters={
        "primary": '''
def solution(inputs):
    if not isinstance(inputs, dict) or {"visitors", "days"} - set(inputs):
        return {"status": "schema_error", "detail": "visitors, days"}
    return sum(day % 7 == 1 for first, every in inputs["visitors"] for day in range(first, inputs["days"] + 1, every))
''',
        "calendar": '''
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
''',
        "walking": '''
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
''',
    },
)
ROADS = family(
    "cheapest-road",
    template=(
        "A pedlar wanders from town to town. Each line names the town where a road begins, the town where it ends, and its toll:\n\n"
        "[Input Slot 1]\n\n"
        "Every day the pedlar takes, of the roads that begin where he is, the one with the lowest toll; when several have the same toll, the one "
        "that leads to the town with the lowest number. No road is taken twice; where none is left, he stays.\n\n"
        "<!-- question -->\nHe begins in town 1. What is the sum of the numbers of the towns in which he ends his first [Input Slot 2] days?"
    ),
    generator='''
import random


def input(difficulty):
    towns = 3 + difficulty
    roads = sorted({(start, end) for start in range(1, towns + 1) for end in random.sample(range(1, towns + 1), 3) if end != start})
    roads = [[start, end, random.randint(1, 3)] for start, end in random.sample(roads, len(roads))]
    days = 3 + 2 * difficulty
    return {"roads": roads, "days": days}, ["\\n".join(" ".join(map(str, road)) for road in roads), str(days)]
''',
    reader='''
import re


def read(text):
    roads = re.findall(r"^(\\d+) (\\d+) (\\d+)$", text, re.MULTILINE)
    return {"roads": [list(map(int, road)) for road in roads], "days": int(re.search(r"first (\\d+) days", text).group(1))}
''',
    voters={
        "primary": '''
def solution(inputs):
    if not isinstance(inputs, dict) or {"roads", "days"} - set(inputs):
        return {"status": "schema_error", "detail": "roads, days"}
    left, town, total = [tuple(road) for road in inputs["roads"]], 1, 0
    for _ in range(inputs["days"]):
        here = [road for road in left if road[0] == town]
        if here:
            road = min(here, key=lambda road: (road[2], road[1]))
            left.remove(road)
            town = road[1]
        total += town
    return total
''',
        "queues": '''
def solution(inputs):
    try:
        ways = {}
        for start, end, toll in inputs["roads"]:
            ways.setdefault(start, []).append(100 * toll + end)
        days = inputs["days"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "roads, days"}
    for way in ways.values():
        way.sort(reverse=True)
    town, visited = 1, []
    while len(visited) < days:
        if ways.get(town):
            town = ways[town].pop() % 100
        visited.append(town)
    return sum(visited)
''',
        "scanning": '''
def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("roads"), list):
        return {"status": "schema_error", "detail": "roads, days"}
    used, town, total, day = set(), 1, 0, 0
    while day < inputs["days"]:
        best = None
        for number, (start, end, toll) in enumerate(inputs["roads"]):
            if start != town or number in used:
                continue
            if best is None or toll < best[0] or toll == best[0] and end < best[1]:
                best = toll, end, number
        if best is not None:
            used.add(best[2])
            town = best[1]
        total += town
        day += 1
    return total
''',
    },
)
COUNTING = family(
    "none-is-out",
    template=(
        "[Input Slot 1] children, numbered from 1, stand in a circle and count. None of them is out at first. They count from child 1 on, one number "
        "a child, always in the direction of rising numbers and after the last one with the first one again; whoever says [Input Slot 2] is out, and "
        "the next child that is still in begins with 1.\n\n<!-- question -->\nWhich child is the last one that is still in?"
    ),
    generator='''
import random


def input(difficulty):
    children, number = random.randint(3, 9) + 3 * difficulty, random.randint(2, 9 + 2 * difficulty)
    return {"children": children, "number": number}, [str(children), str(number)]
''',
    reader='''
import re


def read(text):
    return {"children": int(re.search(r"(\\d+) children", text).group(1)), "number": int(re.search(r"whoever says (\\d+) is", text).group(1))}
''',
    voters={
        "primary": '''
def solution(inputs):
    if not isinstance(inputs, dict) or {"children", "number"} - set(inputs):
        return {"status": "schema_error", "detail": "children, number"}
    place = 0
    for size in range(2, inputs["children"] + 1):
        place = (place + inputs["number"]) % size
    return place + 1
''',
        "circle": '''
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
''',
        "saying": '''
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
''',
    },
)
MINES = family(
    "mines-in-a-row",
    template=(
        "Fields lie in a row. A field with a number has no mine; its number says how many of the fields right beside it have one. A field with a "
        "question mark is covered and may have a mine. From left to right: [Input Slot 1]\n\nExactly [Input Slot 2] fields have a mine.\n\n"
        "<!-- question -->\nIn how many ways can the mines lie?"
    ),
    generator='''
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
''',
    reader='''
import re


def read(text):
    row = re.search(r"left to right: ([?\\d ]+)", text).group(1).split()
    return {"row": [sign if sign == "?" else int(sign) for sign in row], "mines": int(re.search(r"Exactly (\\d+) fields", text).group(1))}
''',
    voters={
        "primary": '''
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
''',
        "states": '''
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
''',
        "placing": '''
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
''',
    },
)
DRESSED = {one.name: one for one in (BRACKETS, MEETINGS, VISITS, ROADS, COUNTING, MINES)}


def reworded(one: Family, old: str, new: str) -> Family:
    """The family with other words in its template."""
    assert old in one.template
    return replace(one, template=one.template.replace(old, new))


def without_the_number_of_mines(one: Family) -> Family:
    """Every voter counts the ways whatever the number of mines is; the reader hands it on as before."""
    changes = {
        "primary": (
            'combinations(covered, inputs["mines"])', "(one for count in range(len(covered) + 1) for one in combinations(covered, count))",
        ),
        "states": ("used == mines and owed", "owed"), "placing": ("int(left == 0 and fits(mines, place - 1))", "int(fits(mines, place - 1))"),
    }
    changed = {}
    for name, source in one.voters().items():
        assert changes[name][0] in source
        changed[name] = source.replace(*changes[name])
    changed["placing"] = changed["placing"].replace(' or not left', "")
    return replace(one, validator=changed.pop("primary"), validators=changed)


FAULTY: dict[str, tuple[Callable[[], Family], str]] = {
    "a week of five days against seven": (lambda: reworded(VISITS, "has seven days", "has five days"), "families-quantities"),
    "never two overlap, taken out": (
        lambda: reworded(MEETINGS, "Never two of the chosen meetings overlap; one may", "One may"), "families-sentences-declared",
    ),
    "tie-break taken out": (
        lambda: reworded(ROADS, "; when several have the same toll, the one that leads to the town with the lowest number", ""), "families-ties",
    ),
    "half a rule in every voter": (lambda: without_the_number_of_mines(MINES), "families-idle"),
    "a steep road": (
        lambda: reworded(ROADS, "No road is taken twice", "Roads that are steep are left out, and no road is taken twice"), "families-terms",
    ),
}
"""Fault -> (the family with it, the rule that is to block it)."""
