"""A family without one of its rules.

A rule is data: the name of a mutation point, a sentence for each alternative, and the constant that the
primary assigns, by which it finds the code of the rule in force. There are several ways to be without it: an
alternative of the family holds instead, or nothing does, by a constant that names no alternative or by a
function that does nothing. Where nothing is what the rule says anyway ("it stays where it is"), and where the
primary has no answer then, that way says nothing about the rule.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from evolake.families.model.contract import VALIDATOR, Family
from evolake.families.model.source_code import Unreadable, parse, set_constant, without_function

NOTHING = "nothing"
"""The way in which no rule holds instead."""
ANSWERED = 0.75
"""Share of instances that must have an answer if nothing holds instead of a rule."""


@dataclass(frozen=True)
class Without:
    """The primary without a rule. point: its name. way: the alternative that holds instead, or NOTHING."""

    point: str
    way: str
    source: str


def ways_without(family: Family) -> Iterator[Without]:
    """Yield the primary without each of its rules, in every way that can be written down."""
    for point in family.points:
        others = [(item.name, item.expression(VALIDATOR)) for item in point.alternatives]
        for name, code in [*others, (NOTHING, "None")]:
            source = set_constant(family.validator, point.constant, code) if name != point.chosen else None
            if source is not None:
                yield Without(point.name, name, source)
        for function in _named(family.validator, point.chosen):
            for gives in ("None", "True"):
                if (source := without_function(family.validator, function, gives)) is not None:
                    yield Without(point.name, NOTHING, source)


def says_something(way: str, asked: int, answered: int, changed: int) -> bool:
    """Return whether the answers by this way say something about the rule."""
    return way != NOTHING or (answered >= ANSWERED * asked and changed > 0)


def _named(source: str, alternative: str) -> list[str]:
    """Return the function of an alternative, by its name alone or after that of its kind; none where it is
    not the only one."""
    try:
        tree = parse(source)
    except Unreadable:
        return []
    names = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in (alternative, f"law_{alternative}")
    ]
    return names if len(names) == 1 else []
