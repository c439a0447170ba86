"""Does a joined family need its first part? A child that can be solved without it is the second family in a
longer text.

Inputs of such a child are {"a": of the first family, "b": of the second, ...} (see contract). Each instance
is solved again with the `a` of another instance of the same difficulty; how often the answer changes is how
often the first part decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.model.contract import Family
from evolake.families.sandbox.running import Caps, Instance, Solved, solve


def deciding_share(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], *, pool: Any, caps: Caps
) -> float | None:
    """Return the share of instances whose answer changes, None for a family that joins no two. Raises
    MachineryError when the jail failed."""
    good = [
        (instance, solved)
        for instance, solved in zip(instances, answers, strict=True)
        if instance.status == solved.status == "ok"
    ]
    if not good or not all(joined(instance.inputs) for instance, _ in good):
        return None
    others = [_next(good, number) for number in range(len(good))]
    swapped = [
        {**instance.inputs, "a": other.inputs["a"]} for (instance, _), other in zip(good, others, strict=True)
    ]
    again = solve(family.validator, swapped, pool=pool, caps=caps)
    sensitive = family.answer.case_sensitive
    changed = [
        item.status != "ok" or not equivalent(solved.answer, item.answer, case_sensitive=sensitive)
        for (_, solved), item in zip(good, again, strict=True)
    ]
    return sum(changed) / len(changed)


def joined(inputs: Any) -> bool:
    """Return whether these are the inputs of two families under one."""
    return isinstance(inputs, dict) and all(isinstance(inputs.get(key), dict) for key in ("a", "b"))


def _next(good: Sequence[tuple[Instance, Solved]], number: int) -> Instance:
    """Return the next instance of the same difficulty, the first one after the last."""
    same = [item for item, _ in good if item.difficulty == good[number][0].difficulty]
    return same[(same.index(good[number][0]) + 1) % len(same)]
