"""Thirteen tasks of reasoning-gym, SynLogic and Enigmata, written anew from their names and rules in a first
form that comes naturally.

FIRST_FORM has what a person would write first. MENDED has the tasks whose first form a gate blocks, after
what `families check` lists was corrected once. Their author knows the gates, so the count says what can come
in, not what a stranger gets in.
"""

from __future__ import annotations

from dataclasses import replace

from evolake.families.model.contract import Family
from foreign_tasks.grids import LIFE, ORANGES, SPIRAL
from foreign_tasks.numbers import BASES, COUNTDOWN, INTERVALS, INTERVALS_MENDED
from foreign_tasks.sayings import ENIGMATA_KNIGHTS, GYM_LIES, SYNLOGIC_LIES
from foreign_tasks.sequences import BRACKETS, PAINTING, SORTING, STACK

_ALL = (
    LIFE,
    GYM_LIES,
    SPIRAL,
    ORANGES,
    BASES,
    COUNTDOWN,
    SORTING,
    BRACKETS,
    SYNLOGIC_LIES,
    INTERVALS,
    PAINTING,
    STACK,
    ENIGMATA_KNIGHTS,
)
FIRST_FORM: dict[str, Family] = {family.name: family for family in _ALL}
_LIFE = replace(
    LIFE,
    template=LIFE.template.replace(
        "each cell has eight neighbors, and",
        "the neighbors of a cell are those that touch it, at a corner too, and",
    ),
)
_DIGITS = "10 ** (4 * difficulty), 10 ** (4 * difficulty + 1)"
_BASES = replace(
    BASES, generator=BASES.generator.replace("10 ** difficulty, 10 ** (difficulty + 1)", _DIGITS)
)
_STACK = replace(
    STACK,
    generator=STACK.generator.replace("[str(count), ", "[").replace('{"count": count, ', "{"),
    template=STACK.template.replace(
        "The numbers from 1 to [Input Slot 1] are", "The numbers 1, 2, 3 and so on are"
    ).replace("Slot 2", "Slot 1"),
    reader=(STACK.reader or "").replace(
        '{"count": int(re.search(r"from 1 to (\\d+)", text).group(1)), ', "{"
    ),
    validators={
        name: source.replace('inputs["count"]', 'len(inputs["leaving"])')
        for name, source in STACK.validators.items()
    },
)
MENDED: dict[str, Family] = {family.name: family for family in (INTERVALS_MENDED, _LIFE, _BASES, _STACK)}
