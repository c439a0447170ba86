"""Operator (b), pipe: the answer of one family becomes a number in the other.

The second family's instance is drawn first, so on shared seeds it is the instance of the parent itself: where the piped number changes nothing, the
answers are the parent's and the near-duplicate gate sees it. How many values the number can take stands in the text and is read from there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family
from evolake.families.model.joining import embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import Glue, Member, build, lettered, measure_text, moved_points, moved_up, not_bound, port_glue
from evolake.families.operators.text import fresh_letters, heading, say, short

GENERATE = '''
make_a, make_b = part_a(), part_b()


def input(difficulty):
    second, more = make_b(difficulty)
    first, texts = make_a(difficulty)
    more = list(more)
    if more[{index}].strip() != str({value}):
        raise ValueError("the port's slot does not show its number")
    span = {high} - {low} + 1
    del more[{index}]
    {value} = None
    return {{"a": first, "b": second, "span": span}}, [*texts, *more, str(span)]
'''
SOLVE = '''
import copy

solve_a, solve_b = part_a(), part_b()


def solution(inputs):
    if lacks(inputs, "a", "b", "span"):
        return {{"status": "schema_error", "detail": "a, b and span"}}
    found = solve_a(inputs["a"])
    if failed(found):
        return found
    second = copy.deepcopy(inputs["b"])
    {value} = {low} + measure(found) % inputs["span"]
    return solve_b(second)
'''
OTHER = '''
import json

solve_a, solve_b = part_a(), part_b()


def solution(inputs):
    try:
        first, second, span = inputs["a"], json.loads(json.dumps(inputs["b"])), inputs["span"]
    except (TypeError, KeyError):
        return {{"status": "schema_error", "detail": "a, b and span"}}
    found = solve_a(first)
    if failed(found):
        return found
    number = measure(found)
    choices = list(range({low}, {low} + span))
    {value} = choices[number - span * (number // span)]
    return solve_b(second)
'''
READ = '''
read_a, read_b = part_a(), part_b()


def read(text):
    first, second = cut(text)
    second = read_b(second.replace({letter!r}, {legal!r}))
    {value} = None
    return {{"a": read_a(first), "b": second, "span": int(said(text)["slot{slot}"])}}
'''
SOURCES = Glue(GENERATE, SOLVE, OTHER, READ)


def pipe(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """The first parent's answer into a port of the second. Raises NotComposable."""
    first, second = parents
    if not second.ports:
        raise NotComposable("a parent without a port")
    port = second.ports[int(random.integers(len(second.ports)))]
    marker = fresh_marker([first.template, second.template])
    letter, value = fresh_letters([first, second], 2)
    left = embed(first, "a")
    right = embed(second, "b", shift=left.slots)
    members = [Member("part_a", first, left), Member("part_b", second, right)]
    inner = right.ports[second.ports.index(port)]
    shown = lettered(right.text, inner.slot, letter)
    low = say(first, "pipe low", low=port.low) if port.low else ""
    question = say(
        first, "pipe", value=value, measure=measure_text(first, f"{marker} 1"), target=f"{marker} 2", port=letter, low=low,
        slot=left.slots + right.slots,
    )
    glue = port_glue(first, port, 2, marker, letter, SOURCES, slot=left.slots + right.slots)
    return build(
        "pipe", members, glue, parents=[first, second], title=say(first, "pipe title", first=heading(first.title), second=short(second.title)),
        category=second.category, template=join_question(sections([left.text, shown], marker), question), answer=second.answer,
        points=moved_points(members, 0) + moved_points(members, 1), ports=left.ports + moved_up(right.ports, inner),
        filterables=left.filterables + not_bound(right.filterables, inner.high),
    )
