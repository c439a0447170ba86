"""Operator (f), filter: a condition that elements of a list must meet before the family's own question is asked (parity, a bound, distinctness).

Parallel lists lose the same elements. An instance is drawn anew until the condition removes something and leaves enough. The condition is a function
of its own: where what it removes decides nothing, it can lose its work, which the gate `sentences` sees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family, Filterable, Port
from evolake.families.model.joining import cutter, embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import HEAD, Glue, Member, at, build, moved_points, point
from evolake.families.operators.text import say, short

KEEPS = {name: f'"{name}"' for name in ("odd", "even", "third", "place")}
SIDES = {name: f'"{name}"' for name in ("least", "most")}
DRAWS = 24
"""Of one instance, before it is given up."""
BOUNDED = 0.4
"""Share of children whose condition is a bound that the text gives."""
CONDITION = '''
{rule} = {code}


def {name}(value, place, inputs):
    return {keeps}[{rule}]
'''
GENERATE = '''
make_a = part_a()


def input(difficulty):
    for _ in range({draws}):
        first, texts = make_a(difficulty)
        whole = {list}
{bounded}        stay = sum(kept({number}, place, inputs) for place, item in enumerate(whole))
        if {least} <= stay < len(whole):
            return inputs, texts
    raise ValueError("in {draws} draws the condition removed nothing, or left too few")
'''
PLAIN = '''        inputs = {"a": first}
'''
BOUND = '''        numbers = sorted({{{number} for item in whole}})
        bound = numbers[len(numbers) // 3 if SIDE == "least" else len(numbers) // 3 * 2]
        inputs, texts = {{"a": first, "bound": bound}}, [*texts, str(bound)]
'''
SOLVE = '''
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "a"{also}):
        return {{"status": "schema_error", "detail": "a"}}
    first = dict(inputs["a"])
    stays = [stays_there({number}, place, inputs) for place, item in enumerate({list})]
    if any(stays):
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


def fits(value, before, inputs):
{tests}


def solution(inputs):
    try:
        first = json.loads(json.dumps(inputs["a"]))
        whole = list({list})
    except (TypeError, KeyError):
        return {{"status": "schema_error", "detail": "a"}}
    gone = []
    for place, item in enumerate(whole):
        if not fits({number}, whole[:place], inputs):
            gone.append(place)
    for path in {paths!r}:
        items = first
        for key in path:
            items = items[key]
        for place in reversed(gone):
            del items[place]
    return solve_a(first)
'''
KEEP_PLAIN = '{"odd": value % 2 == 1, "even": value % 2 == 0, "third": value % 3 != 0, "place": place % 2 == 0}'
KEEP_BOUND = '{"least": value >= inputs["bound"], "most": value <= inputs["bound"]}'
TESTS_PLAIN = '''    if KEEP in ("odd", "even"):
        return (value & 1) == (KEEP == "odd")
    if KEEP == "third":
        return bool(value - value // 3 * 3)
    return not len(before) & 1'''
TESTS_BOUND = '''    if SIDE == "least":
        return not value < inputs["bound"]
    return not value > inputs["bound"]'''
READ = '''
read_a = part_a()


def read(text):
    (first,) = cut(text)
    return {{"a": read_a(first), "bound": int(said(text)["slot{slot}"])}}
'''
READ_PLAIN = '''
read_a = part_a()


def read(text):
    (first,) = cut(text)
    said(text)
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
    question = say(parent, "filter", place=f"{marker} 1", noun=chosen.noun, rule=shown)
    glue = _glue(chosen, marker, bounded, rule.alternative().code, inner.slots + 1)
    members = [Member("part_a", parent, inner)]
    cut_too = {inner.filterables[number].key, *inner.filterables[number].together}
    return build(
        "filter", members, glue, parents=[parent], title=say(parent, "filter title", first=short(parent.title)), category=parent.category,
        template=join_question(sections([inner.text], marker), question), answer=parent.answer, points=(*moved_points(members, 0), rule),
        ports=inner.ports, filterables=tuple(item for item in inner.filterables if item.key not in cut_too),
    )


def _bounds(port: Port, item: Filterable) -> bool:
    """Whether the port's highest value is taken from the list: after filtering it could be too high."""
    return not isinstance(port.high, int) and port.high in (item.key, *item.together)


def _glue(chosen: Filterable, marker: str, bounded: bool, code: str, slot: int) -> Glue:
    names = {
        "list": at("first", chosen.key), "number": "item" if chosen.field is None else f"item[{chosen.field!r}]", "least": chosen.min_length,
        "paths": [list(path) for path in (chosen.key, *chosen.together)], "draws": DRAWS, "code": code, "rule": "SIDE" if bounded else "KEEP",
        "also": ', "bound"' if bounded else "", "keeps": KEEP_BOUND if bounded else KEEP_PLAIN, "tests": TESTS_BOUND if bounded else TESTS_PLAIN,
        "slot": slot,
    }
    drawn = BOUND.format(**names) if bounded else PLAIN
    return Glue(
        generate=CONDITION.format(name="kept", **names) + GENERATE.format(bounded=drawn, **names),
        solve=HEAD + CONDITION.format(name="stays_there", **names) + SOLVE.format(**names), other=HEAD + OTHER.format(**names),
        read=cutter(marker, 1) + (READ.format(**names) if bounded else READ_PLAIN),
    )
