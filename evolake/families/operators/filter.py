"""Operator (f), filter: a condition that elements of a list must meet before the family's own question is
asked (parity, a bound, distinctness).

Parallel lists lose the same elements. An instance is drawn again until the condition removes something and
leaves enough. The condition is a separate function: if what it removes decides nothing, it can be left out
without effect, which the gate `sentences` sees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family, Filterable, Port
from evolake.families.model.joining import embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import (
    Declaration,
    Glue,
    Member,
    at,
    build,
    glue_of,
    moved_points,
    plain_head,
    point,
)
from evolake.families.operators.text import say, short

KEEPS = {name: f'"{name}"' for name in ("odd", "even", "third", "place")}
SIDES = {name: f'"{name}"' for name in ("least", "most")}
DRAWS = 24
"""Of one instance, before it is given up."""
BOUNDED = 0.4
"""Share of children whose condition is a bound that the text gives."""
PLAIN = """        inputs = {"a": first}
"""
BOUND = """        numbers = sorted({{{number} for item in whole}})
        bound = numbers[len(numbers) // 3 if SIDE == "least" else len(numbers) // 3 * 2]
        inputs, texts = {{"a": first, "bound": bound}}, [*texts, str(bound)]
"""
KEEP_PLAIN = (
    '{"odd": value % 2 == 1, "even": value % 2 == 0, "third": value % 3 != 0, "place": place % 2 == 0}'
)
KEEP_BOUND = '{"least": value >= inputs["bound"], "most": value <= inputs["bound"]}'
TESTS_PLAIN = """    if KEEP in ("odd", "even"):
        return (value & 1) == (KEEP == "odd")
    if KEEP == "third":
        return bool(value - value // 3 * 3)
    return not len(before) & 1
"""
TESTS_BOUND = """    if SIDE == "least":
        return not value < inputs["bound"]
    return not value > inputs["bound"]
"""
READ_PLAIN = """    said(text)
    return {{"a": read_a(first)}}
"""
READ_BOUND = """    return {{"a": read_a(first), "bound": int(said(text)["slot{slot}"])}}
"""


def constrain(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent with a condition on one of its lists. Raises NotComposable."""
    parent = parents[0]
    free = [
        number
        for number, item in enumerate(parent.filterables)
        if not any(_bounds(port, item) for port in parent.ports)
    ]
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
        "filter",
        members,
        glue,
        Declaration(
            title=say(parent, "filter title", first=short(parent.title)),
            category=parent.category,
            template=join_question(sections([inner.text], marker), question),
            answer=parent.answer,
            points=(*moved_points(members, 0), rule),
            ports=inner.ports,
            filterables=tuple(item for item in inner.filterables if item.key not in cut_too),
        ),
        parents=[parent],
    )


def _bounds(port: Port, item: Filterable) -> bool:
    """Return whether the port's highest value is taken from the list: after filtering it could be too
    high."""
    return not isinstance(port.high, int) and port.high in (item.key, *item.together)


def _glue(chosen: Filterable, marker: str, bounded: bool, code: str, slot: int) -> Glue:
    number = "item" if chosen.field is None else f"item[{chosen.field!r}]"
    return glue_of(
        "filter",
        marker,
        1,
        (plain_head(), plain_head()),
        list=at("first", chosen.key),
        number=number,
        least=chosen.min_length,
        paths=[list(path) for path in (chosen.key, *chosen.together)],
        draws=DRAWS,
        code=code,
        rule="SIDE" if bounded else "KEEP",
        keys='"a", "bound"' if bounded else '"a"',
        keeps=KEEP_BOUND if bounded else KEEP_PLAIN,
        tests=TESTS_BOUND if bounded else TESTS_PLAIN,
        drawn=BOUND.format(number=number) if bounded else PLAIN,
        result=(READ_BOUND if bounded else READ_PLAIN).format(slot=slot),
    )
