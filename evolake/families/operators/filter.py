"""Operator (f), filter: a condition that elements of a list must meet before the family's own question is asked (parity, a bound, distinctness).

Parallel lists lose the same elements. The instance is the parent's own on shared seeds, so a condition that changes no answer is seen as a
near-duplicate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family, Filterable, Port
from evolake.families.model.joining import cutter, embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import HEAD, Glue, Member, at, build, moved_points, point
from evolake.families.operators.text import expression, say

KEEPS = {name: f'"{name}"' for name in ("odd", "even", "third", "first")}
SIDES = {name: f'"{name}"' for name in ("least", "most")}
BOUNDED = 0.4
"""Share of children whose condition is a bound that the text gives."""
GENERATE = '''
make_a = part_a()


def input(difficulty):
    first, texts = make_a(difficulty)
    numbers = sorted({number} for item in {list})
    bound = numbers[len(numbers) // {share}]
    return {{"a": first, "bound": bound}}, [*texts, str(bound)]
'''
GENERATE_PLAIN = '''
make_a = part_a()


def input(difficulty):
    first, texts = make_a(difficulty)
    return {"a": first}, texts
'''
SOLVE = '''
{rule} = {code}
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "a"{also}):
        return {{"status": "schema_error", "detail": "a"}}
    first = dict(inputs["a"])
    numbers = [{number} for item in {list}]
    stays = [{keeps}[{rule}] for place, value in enumerate(numbers)]
    if sum(stays) >= {least}:
        for path in {paths!r}:
            outer = first
            for key in path[:-1]:
                outer[key] = dict(outer[key])
                outer = outer[key]
            outer[path[-1]] = [item for item, stay in zip(outer[path[-1]], stays) if stay]
    return solve_a(first)
'''
OTHER = '''
import json

{rule} = {code}
solve_a = part_a()


def fits(value, earlier, inputs):
{tests}


def solution(inputs):
    try:
        first = json.loads(json.dumps(inputs["a"]))
        whole = list({list})
    except (TypeError, KeyError):
        return {{"status": "schema_error", "detail": "a"}}
    earlier, gone = [], []
    for place, item in enumerate(whole):
        value = {number}
        if not fits(value, earlier, inputs):
            gone.append(place)
        earlier.append(value)
    if len(whole) - len(gone) < {least}:
        gone = []
    for path in {paths!r}:
        items = first
        for key in path:
            items = items[key]
        for place in reversed(gone):
            del items[place]
    return solve_a(first)
'''
KEEP_PLAIN = '{"odd": value % 2 == 1, "even": value % 2 == 0, "third": value % 3 != 0, "first": value not in numbers[:place]}'
KEEP_BOUND = '{"least": value >= inputs["bound"], "most": value <= inputs["bound"]}'
TESTS_PLAIN = '''    if KEEP in ("odd", "even"):
        return (value & 1) == (KEEP == "odd")
    if KEEP == "third":
        return bool(value - value // 3 * 3)
    return all(other != value for other in earlier)'''
TESTS_BOUND = '''    if SIDE == "least":
        return not value < inputs["bound"]
    return not value > inputs["bound"]'''
READ = '''
import re

read_a = part_a()


def read(text):
    (first,) = cut(text)
    bound = re.search({expression!r}, text[text.rindex({end!r}):]).group(1)
    return {{"a": read_a(first), "bound": int(bound)}}
'''
READ_PLAIN = '''
read_a = part_a()


def read(text):
    (first,) = cut(text)
    return {"a": read_a(first)}
'''


def constrain(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """The first parent with a condition on one of its lists. Raises NotComposable."""
    parent = parents[0]
    free = [number for number, item in enumerate(parent.filterables) if not any(_bounds(port, item) for port in parent.ports)]
    if not free:
        raise NotComposable("a parent without a list that may be filtered")
    number = free[int(random.integers(len(free)))]
    chosen = parent.filterables[number]
    marker = fresh_marker([parent.template])
    inner = embed(parent, "a")
    bounded = bool(random.random() < BOUNDED)
    kind, codes = ("side", SIDES) if bounded else ("keep", KEEPS)
    said = {"noun": chosen.noun, "quantity": chosen.quantity}
    rule = point(parent, kind, kind, codes, list(codes)[int(random.integers(len(codes)))], **said)
    shown = say(parent, "keep bound", side=kind, slot=inner.slots + 1) if bounded else f"[Rule {kind}]"
    question = say(parent, "filter", place=f"{marker} 1", noun=chosen.noun, rule=shown, least=chosen.min_length)
    glue = _glue(parent, chosen, marker, bounded, rule.alternative().code)
    members = [Member("part_a", parent, inner)]
    cut_too = {inner.filterables[number].key, *inner.filterables[number].together}
    return build(
        "filter", members, glue, parents=[parent], title=say(parent, "filter title", first=parent.title)[:200], category=parent.category,
        template=join_question(sections([inner.text], marker), question), answer=parent.answer, points=(*moved_points(members, 0), rule),
        ports=inner.ports, filterables=tuple(item for item in inner.filterables if item.key not in cut_too),
    )


def _bounds(port: Port, item: Filterable) -> bool:
    """Whether the port's highest value is taken from the list: after filtering it could be too high."""
    return not isinstance(port.high, int) and port.high in (item.key, *item.together)


def _glue(parent: Family, chosen: Filterable, marker: str, bounded: bool, code: str) -> Glue:
    names = {
        "list": at("first", chosen.key), "number": "item" if chosen.field is None else f"item[{chosen.field!r}]", "least": chosen.min_length,
        "paths": [list(path) for path in (chosen.key, *chosen.together)], "share": 3, "code": code, "rule": "SIDE" if bounded else "KEEP",
        "also": ', "bound"' if bounded else "", "keeps": KEEP_BOUND if bounded else KEEP_PLAIN, "tests": TESTS_BOUND if bounded else TESTS_PLAIN,
        "expression": expression(parent, "filter"), "end": f"[End of {marker}s]",
    }
    if code == SIDES["most"]:
        names["share"] = "3 * 2"
    return Glue(
        generate=GENERATE.format(**names) if bounded else GENERATE_PLAIN, solve=HEAD + SOLVE.format(**names), other=HEAD + OTHER.format(**names),
        read=cutter(marker, 1) + (READ.format(**names) if bounded else READ_PLAIN),
    )
