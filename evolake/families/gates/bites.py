"""Which rules bite: a family is built without each of its rules, and its answers are counted that are others.

A question whose answer is the same without a rule does not ask for it. With checkers, an answer is another if
they do not accept it. All of it runs in the jail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.model.contract import Family
from evolake.families.model.without_rules import NOTHING, Without, says_something, ways_without
from evolake.families.sandbox.running import Caps, Instance, Solved, accepted, by_majority, check, solve

SURE = 0.5
"""Share of the first instances of a level from which on no further ones are asked: of 8 instances, 4 or more
change in one of twenty cases where a fifth of all do."""
CAP_S = 0.25
"""cpu seconds of one answer without a rule, which may have no end."""
Solution = tuple[Instance, Solved]


def rule_bites(
    family: Family, first: Sequence[Solution], further: Sequence[Solution] = (), *, pool: Any, caps: Caps
) -> list[list[Any]]:
    """Return [rule, its words, way, level, instances, answers that are others without it] for each level.

    first, further: instances with the primary's answers; of `further`, those of levels are asked that are not
    sure yet. Raises MachineryError when the jail failed.
    """
    first, further = (
        [pair for pair in some if pair[0].status == pair[1].status == "ok"] for some in (first, further)
    )
    said = {point.name: point.alternative().text for point in family.points}
    short = replace(caps, cpu_s=min(caps.cpu_s, CAP_S))
    rows: list[list[Any]] = []
    settled: set[str] = set()
    for way in ways_without(family):
        if way.way == NOTHING and way.point in settled:
            continue
        counts: dict[int, tuple[int, int]] = {}
        _count(counts, family, way, first, pool=pool, caps=short)
        told, changed = (sum(column) for column in zip(*counts.values(), strict=True)) if counts else (0, 0)
        if not says_something(way.way, len(first), told, changed):
            continue
        open_levels = {level for level, (instances, changed) in counts.items() if changed < SURE * instances}
        more = [pair for pair in further if pair[0].difficulty in open_levels]
        _count(counts, family, way, more, pool=pool, caps=short)
        if way.way == NOTHING:
            settled.add(way.point)
        rows += [[way.point, said[way.point], way.way, level, *counts[level]] for level in sorted(counts)]
    return rows


def _count(
    counts: dict[int, tuple[int, int]],
    family: Family,
    way: Without,
    pairs: Sequence[Solution],
    *,
    pool: Any,
    caps: Caps,
) -> None:
    """Add what these instances say to the counts of their levels. An alternative without an answer has
    another one; nothing without one is not counted."""
    if not pairs:
        return
    again = solve(way.source, [item.inputs for item, _ in pairs], pool=pool, caps=caps)
    same = same_answers(family, pairs, again, pool=pool, caps=caps)
    for (item, _), other, alike in zip(pairs, again, same, strict=True):
        if way.way != NOTHING or other.status == "ok":
            instances, changed = counts.get(item.difficulty, (0, 0))
            counts[item.difficulty] = instances + 1, changed + (not alike)


def same_answers(
    family: Family, pairs: Sequence[Solution], again: Sequence[Solved], *, pool: Any, caps: Caps
) -> list[bool]:
    """Return for each pair whether the other answer is right, too: equal to the primary's, or accepted by
    most checkers. Raises MachineryError when the jail failed."""
    if not family.checkers:
        sensitive = family.answer.case_sensitive
        return [
            other.status == "ok" and equivalent(solved.answer, other.answer, case_sensitive=sensitive)
            for (_, solved), other in zip(pairs, again, strict=True)
        ]
    tasks = [(item.inputs, [other.answer]) for (item, _), other in zip(pairs, again, strict=True)]
    said = {name: check(source, tasks, pool=pool, caps=caps) for name, source in family.checkers.items()}
    return [
        other.status == "ok" and by_majority(accepted(said, row, 0), len(family.checkers)) is True
        for row, other in enumerate(again)
    ]
