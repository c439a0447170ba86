"""Operator (e), invert: a number of the question is withheld, and asked for: which one makes the answer
largest, the smallest that makes it even.

Every validator tries all the values that the text gives, each by its own algorithm. They are around the
number that the parent drew, where its instances are neither empty nor all alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Answer, Family
from evolake.families.model.joining import embed, sections
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.common import (
    Declaration,
    Member,
    build,
    lettered,
    measure_text,
    moved_points,
    moved_up,
    not_bound,
    point,
    port_glue,
    require_quantity,
)
from evolake.families.operators.text import fresh_letters, say, short

ASKS = {
    name: f'"{name}"' for name in ("largest", "smallest", "first", "third", "spread", "distinct", "total")
}


def invert(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent, asked for its own number. Raises NotComposable."""
    parent = parents[0]
    if not parent.ports:
        raise NotComposable("a parent without a port")
    require_quantity(parent)
    number = int(random.integers(len(parent.ports)))
    port = parent.ports[number]
    marker = fresh_marker([parent.template])
    letter, value = fresh_letters([parent], 2)
    inner = embed(parent, "a")
    ask = point(
        parent,
        "ask",
        "ask",
        ASKS,
        list(ASKS)[int(random.integers(len(ASKS)))],
        port=letter,
        value=value,
        none=port.low - 1,
    )
    question = say(
        parent,
        "invert",
        place=f"{marker} 1",
        port=letter,
        bottom=inner.slots,
        slot=inner.slots + 1,
        value=value,
        measure=measure_text(parent, f"{marker} 1"),
        ask="ask",
    )
    glue = port_glue(
        "invert",
        parent,
        port,
        marker,
        1,
        letter,
        none=port.low - 1,
        code=ask.alternative().code,
        bottom=inner.slots,
        top=inner.slots + 1,
    )
    members = [Member("part_a", parent, inner)]
    moved = inner.ports[number]
    return build(
        "invert",
        members,
        glue,
        Declaration(
            title=say(parent, "invert title", first=short(parent.title)),
            category=parent.category,
            template=join_question(sections([lettered(inner.text, moved.slot, letter)], marker), question),
            answer=Answer("integer"),
            points=(*moved_points(members, 0), ask),
            ports=moved_up(inner.ports, moved),
            filterables=not_bound(inner.filterables, moved.high),
        ),
        parents=[parent],
    )
