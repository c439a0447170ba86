"""Which families become parents: those that few children came from first, and of these such as are unlike
each other."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint, jaccard, normalised, sketch
from evolake.families.model.syntax import Unreadable, parse

LOOKED_AT = 12
"""Families that are drawn, of which the parents are those most unlike each other."""


def depth(family: Family) -> int:
    """Return how many compositions are inside one another: 0 of a seed and of a drawn world, 1 of a child of
    two such."""
    return _nesting(family.generator)


def novel_parents(
    population: Sequence[Family],
    count: int,
    random: np.random.Generator,
    *,
    known: Mapping[str, Fingerprint],
    deepest: int | None = None,
    factors: Mapping[str, float] | None = None,
) -> list[Family]:
    """Return `count` of the population, as many as there are: drawn with a weight that falls with the number
    of their children, then the unlikest.

    known: fingerprints by family_id, for those that have one. deepest: families of so many compositions
    inside one another are left out, unless there is no other. factors: family_id -> what its weight is
    multiplied with (`evolution.learnability`); 1 where it is not named. Families with checkers are left out:
    operators compose what has one answer. With factors at most half of the families are looked at: of a few,
    all would be, whatever their weight.
    """
    used = Counter(parent for family in population for parent in family.parents)
    population = [family for family in population if not family.checkers]
    fit = [family for family in population if deepest is None or depth(family) < deepest] or list(population)
    weights, looked_at = (
        np.array([1.0 / (1 + used[family.family_id]) ** 2 for family in fit]),
        min(LOOKED_AT, len(fit)),
    )
    if factors:
        weights *= [factors.get(family.family_id, 1.0) for family in fit]
        looked_at = min(looked_at, max(count, len(fit) // 2))
    drawn = random.choice(
        len(fit), size=min(looked_at, len(fit)), replace=False, p=weights / weights.sum()
    ).tolist()
    sketches = {place: _sketch(fit[place], known) for place in drawn}
    chosen = drawn[:1]
    while len(chosen) < min(count, len(drawn)):
        left = [place for place in drawn if place not in chosen]
        chosen.append(
            min(left, key=lambda place: max(jaccard(sketches[place], sketches[other]) for other in chosen))
        )
    return [fit[place] for place in chosen]


def _sketch(family: Family, known: Mapping[str, Fingerprint]) -> tuple[int, ...]:
    result = known.get(family.family_id)
    return (
        result.sketch
        if result is not None
        else sketch(normalised(family.generator) + normalised(family.validator))
    )


@lru_cache(maxsize=4096)
def _nesting(source: str) -> int:
    try:
        tree = parse(source)
    except Unreadable:
        return 0
    deepest, waiting = 0, [(node, 0) for node in tree.body]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, ast.FunctionDef) and node.name.startswith("part_"):
            level += 1
            deepest = max(deepest, level)
            waiting.extend((inner, level) for inner in node.body)
    return deepest
