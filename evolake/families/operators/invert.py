"""Operator (e), invert: a number of the question is withheld, and asked for: which one makes the answer largest, the smallest that makes it even.

Every validator tries all the values that the text gives, each by its own algorithm. They lie around the number that the parent drew, where its
instances are neither empty nor all alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Answer, Family
from evolake.families.model.joining import embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import Glue, Member, build, lettered, measure_text, moved_points, moved_up, not_bound, point, port_glue
from evolake.families.operators.text import fresh_letters, say, short

ASKS = {name: f'"{name}"' for name in ("largest", "smallest", "first", "third", "spread", "distinct", "total")}
GENERATE = '''
import random

make_a = part_a()


def input(difficulty):
    first, texts = make_a(difficulty)
    texts = list(texts)
    if texts[{index}].strip() != str({value}):
        raise ValueError("the port's slot does not show its number")
    low, high, width = {low}, {high}, 3 + difficulty
    bottom = max(low, min(random.randint({value} - width, {value}), high - width))
    top = min(high, bottom + width)
    del texts[{index}]
    {value} = None
    return {{"a": first, "bottom": bottom, "top": top}}, [*texts, str(bottom), str(top)]
'''
SOLVE = '''
import copy

ASK = {code}
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "a", "bottom", "top"):
        return {{"status": "schema_error", "detail": "a, bottom and top"}}
    values = {{}}
    for number in range(inputs["bottom"], inputs["top"] + 1):
        first = copy.deepcopy(inputs["a"])
        {value} = number
        answer = solve_a(first)
        if failed(answer):
            return answer
        values[number] = measure(answer)
    if ASK == "largest":
        return max(values, key=lambda number: (values[number], -number))
    if ASK == "smallest":
        return min(values, key=lambda number: (values[number], -number))
    if ASK == "spread":
        return max(values.values()) - min(values.values())
    if ASK == "distinct":
        return len(set(values.values()))
    if ASK == "total":
        return sum(values.values())
    divisor, rest = (2, 0) if ASK == "first" else (3, 1)
    return min((number for number in values if values[number] % divisor == rest), default={none})
'''
OTHER = '''
import json

ASK = {code}
solve_a = part_a()


def solution(inputs):
    try:
        text, bottom, top = json.dumps(inputs["a"]), inputs["bottom"], inputs["top"]
    except (TypeError, KeyError):
        return {{"status": "schema_error", "detail": "a, bottom and top"}}
    pairs = []
    for number in range(top, bottom - 1, -1):
        first = json.loads(text)
        {value} = number
        answer = solve_a(first)
        if failed(answer):
            return answer
        pairs.append((measure(answer), number))
    if ASK in ("first", "third"):
        fitting = [number for value, number in pairs if not ((value - 1) % 3 if ASK == "third" else value & 1)]
        return fitting[-1] if fitting else {none}
    if ASK == "total":
        total = 0
        for value, number in pairs:
            total += value
        return total
    pairs.sort()
    if ASK == "spread":
        return pairs[-1][0] - pairs[0][0]
    if ASK == "distinct":
        return 1 + sum(one[0] != two[0] for one, two in zip(pairs, pairs[1:]))
    wanted = pairs[-1][0] if ASK == "largest" else pairs[0][0]
    fitting = [number for value, number in pairs if value == wanted]
    return fitting[0] if ASK == "largest" else fitting[-1]
'''
READ = '''
read_a = part_a()


def read(text):
    (first,) = cut(text)
    found = said(text)
    first = read_a(first.replace({letter!r}, {legal!r}))
    {value} = None
    return {{"a": first, "bottom": int(found["slot{bottom}"]), "top": int(found["slot{top}"])}}
'''
SOURCES = Glue(GENERATE, SOLVE, OTHER, READ)


def invert(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """The first parent, asked for a number of its own. Raises NotComposable."""
    parent = parents[0]
    if not parent.ports:
        raise NotComposable("a parent without a port")
    number = int(random.integers(len(parent.ports)))
    port = parent.ports[number]
    marker = fresh_marker([parent.template])
    letter, value = fresh_letters([parent], 2)
    inner = embed(parent, "a")
    ask = point(parent, "ask", "ask", ASKS, list(ASKS)[int(random.integers(len(ASKS)))], port=letter, value=value, none=port.low - 1)
    question = say(
        parent, "invert", place=f"{marker} 1", port=letter, bottom=inner.slots, slot=inner.slots + 1, value=value,
        measure=measure_text(parent, f"{marker} 1"), ask="ask",
    )
    glue = port_glue(
        parent, port, 1, marker, letter, SOURCES, none=port.low - 1, code=ask.alternative().code, bottom=inner.slots, top=inner.slots + 1,
    )
    members = [Member("part_a", parent, inner)]
    moved = inner.ports[number]
    return build(
        "invert", members, glue, parents=[parent], title=say(parent, "invert title", first=short(parent.title)), category=parent.category,
        template=join_question(sections([lettered(inner.text, moved.slot, letter)], marker), question), answer=Answer("integer"),
        points=(*moved_points(members, 0), ask), ports=moved_up(inner.ports, moved), filterables=not_bound(inner.filterables, moved.high),
    )
