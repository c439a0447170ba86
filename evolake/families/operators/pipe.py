"""Operator (b), pipe: the answer of one family becomes a number in the other.

The second family's instance is drawn first, so on shared seeds it is the instance of the parent itself: where
the piped number changes nothing, the answers are the parent's and the near-duplicate gate sees it. How many
values the number can take is in the text and is read from there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family
from evolake.families.model.joining import bridged, embed
from evolake.families.operators.common import (
    Declaration,
    Member,
    build,
    lettered,
    moved_points,
    moved_up,
    not_bound,
    port_glue,
    require_quantity,
)
from evolake.families.operators.text import fresh_letters, heading, say, short


def pipe(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return the first parent's answer into a port of the second. Raises NotComposable."""
    first, second = parents
    if not second.ports:
        raise NotComposable("a parent without a port")
    require_quantity(first)
    port = second.ports[int(random.integers(len(second.ports)))]
    letter, value = fresh_letters([first, second], 2)
    left = embed(first, "a")
    right = embed(second, "b", shift=left.slots)
    members = [Member("part_a", first, left), Member("part_b", second, right)]
    inner = right.ports[second.ports.index(port)]
    shown = lettered(right.text, inner.slot, letter)
    low = say(first, "pipe low", low=port.low) if port.low else ""
    bridge = say(first, "pipe", value=value, port=letter, low=low, slot=left.slots + right.slots)
    glue = port_glue("pipe", first, port, "", 2, letter, slot=left.slots + right.slots)
    return build(
        "pipe",
        members,
        glue,
        Declaration(
            title=say(first, "pipe title", first=heading(first.title), second=short(second.title)),
            category=second.category,
            template=bridged(left.text, bridge, shown),
            answer=second.answer,
            points=moved_points(members, 0) + moved_points(members, 1),
            ports=left.ports + moved_up(right.ports, inner),
            filterables=left.filterables + not_bound(right.filterables, inner.high),
        ),
        parents=[first, second],
    )
