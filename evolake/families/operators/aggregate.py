"""Operator (d), aggregate: several instances of a family, and one question about all their answers: sum,
largest, spread, which, how many.

The parent's statement is given once, with letters in place of what varies; each case gives the letters'
texts. The child's reader puts them back and hands the parent's reader a whole statement for every case. All
cases but the last are easier than the difficulty asked for, and more of them come with it: a rule that
decides hard instances alone decides something here, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.contract import Answer, Family
from evolake.families.model.joining import embed, sections
from evolake.families.model.statement import SLOT, fresh_marker, slots
from evolake.families.operators.common import (
    Declaration,
    Member,
    build,
    glue_of,
    measure_heads,
    measure_text,
    moved_points,
    point,
)
from evolake.families.operators.text import fresh_letters, say, short

FOLDS = {name: f'"{name}"' for name in ("sum", "largest", "spread", "argmax", "even", "alternating")}


def aggregate(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return several cases of the first parent. Raises NotComposable."""
    parent = parents[0]
    numbers = slots(parent.template)
    letters = fresh_letters([parent], len(numbers))
    marker = fresh_marker([parent.template])
    inner = embed(parent, "a")
    names = ["sum"] if parent.answer.type == "boolean" else list(FOLDS)
    fold = point(parent, "fold", "fold", FOLDS, names[int(random.integers(len(names)))])
    shown = SLOT.sub(lambda match: letters[numbers.index(int(match[1]))], inner.text)
    tail = say(
        parent,
        "aggregate",
        place=f"{marker} 1",
        letters=", ".join(letters),
        slot=1,
        measure=measure_text(parent, f"{marker} 1"),
        fold="fold",
    )
    glue = glue_of(
        "aggregate",
        marker,
        1,
        measure_heads(parent),
        marker=marker,
        letters=repr(letters),
        code=fold.alternative().code,
    )
    members = [Member("part_a", parent, inner)]
    return build(
        "aggregate",
        members,
        glue,
        Declaration(
            title=say(parent, "aggregate title", first=short(parent.title)),
            category=parent.category,
            template=f"{sections([shown], marker)}\n\n{tail}\n",
            answer=Answer("integer"),
            points=(*moved_points(members, 0), fold),
        ),
        parents=[parent],
    )
