"""Operator (a), switch: another alternative of one rule, or of two, in the text and in every source together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evolake.families.model.ast_transforms import NotComposable, switch
from evolake.families.model.contract import Family
from evolake.families.operators.common import named

TWO_RULES = 0.4
"""Share of children that change two rules at once, where there are two."""


def switch_rule(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """A child of the first parent. Raises NotComposable when it declares no rule with an alternative."""
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
    """The changed family with its ancestry and a title that says which rules hold now."""
    chosen = {point.name: point.chosen for point in parent.points}
    news = {point.name: point.chosen for point in changed.points if point.chosen != chosen[point.name]}
    title = retold(parent.title, news)
    return named(replace(changed, title=title, parents=(parent.family_id,), operator="switch"))


_RULES = re.compile(r" \(([a-z_]\w*: \w+(?:, [a-z_]\w*: \w+)*)\)\Z")


def retold(title: str, news: Mapping[str, str]) -> str:
    """The title with the rules that now hold in brackets: those that stood there before and the new ones, each once."""
    known = _RULES.search(title)
    rules = dict(one.split(": ") for one in known[1].split(", ")) if known else {}
    bare = title[: known.start()] if known else title
    return f"{bare} ({', '.join(f'{name}: {rule}' for name, rule in {**rules, **news}.items())})"[:200]
