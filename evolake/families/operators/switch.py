"""Operator (a), switch: another alternative of one rule, or of two, in the text and in every source
together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evolake.families.model.ast_transforms import NotComposable, switch
from evolake.families.model.contract import Family
from evolake.families.operators.common import named
from evolake.families.operators.text import in_title, quoting
from evolake.families.worlds.titles import NAMED, rules_of

TWO_RULES = 0.4
"""Share of children that change two rules in one step, if there are two."""


def switch_rule(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a child of the first parent. Raises NotComposable when it declares no rule with an
    alternative."""
    parent = parents[0]
    points = [point for point in parent.points if len(point.alternatives) > 1]
    if not points:
        raise NotComposable("a parent without a rule to switch")
    count = 2 if len(points) > 1 and random.random() < TWO_RULES else 1
    child = parent
    for number in sorted(random.choice(len(points), size=count, replace=False).tolist()):
        others = [item.name for item in points[number].alternatives if item.name != points[number].chosen]
        child = switch(child, points[number].name, others[int(random.integers(len(others)))])
    return as_child(child, parent)


def as_child(changed: Family, parent: Family) -> Family:
    """Return the changed family with its ancestry and a title that says which rules hold now."""
    return named(
        replace(changed, title=retold(parent, changed), parents=(parent.family_id,), operator="switch")
    )


def retold(parent: Family, changed: Family) -> str:
    """Return the parent's title, in which the rules of the changed family stand for those that no longer
    hold: a process world names all of its rules, of others the words of the new ones are quoted.
    """
    before = {point.name: point.alternative() for point in parent.points}
    news = [point for point in changed.points if point.chosen != before[point.name].name]
    title, ends = parent.title, [rules_of(family) for family in (parent, changed)]
    if ends[0] and ends[1] and ends[0] in title:
        title, news = title.replace(ends[0], ends[1]), [point for point in news if point.name not in NAMED]
    return quoting(
        title,
        parent.language,
        gone=[in_title(before[point.name].text) for point in news],
        new=[in_title(point.alternative().text) for point in news],
    )
