"""Whether a drawn world is alive at every level: no answer is a good guess, its steps change the state, and
its late steps decide the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.guessing import candidate_shares, constant_share, pair_share
from evolake.families.worlds.trying import accepting, answer_text, entry, generating

LEVELS = (1, 10, 5, 3, 7)
"""Levels that are tried, those first at which most worlds fail."""
EACH = 20
"""Instances of each level."""
CONSTANT, PAIR = 0.21, 0.21
"""Largest shares of the best constant and of the best two answers. The gate allows 25 % on other instances:
this leaves room for chance."""
CHANGING = 0.55
"""Least share of the steps that change the state, on average over a level."""
DECIDING = 0.5
"""Least share of the instances of a level whose answer is another without the last third of the steps. Who
looks at a fixed number of steps is therefore wrong more often if there are more of them, at higher levels."""


@dataclass(frozen=True)
class Steps:
    """The steps of a run. key: of the inputs, their list. changes: for each step, whether it changes the
    state; None: every step does."""

    key: str
    changes: Callable[[Any], list[bool]] | None = None


def is_alive(
    family: Family, steps: Steps | None = None, levels: tuple[int, ...] = LEVELS, each: int = EACH
) -> bool:
    """Return whether the world is alive, by its own sources. A generator that finds no instance makes it
    none."""
    make, solution = generating(family.generator), entry(family.validator, "solution")
    for level in levels:
        try:
            instances = [make(level, Random(1000 * level + seed)) for seed in range(each)]
        except (ValueError, IndexError):
            return False
        answers = [solution(inputs) for inputs in instances]
        keys = [answer_text(answer) for answer in answers]
        shares = (
            _accepted_shares(family, instances, answers)
            if family.checkers
            else (constant_share(keys), pair_share(keys))
        )
        if shares[0] > CONSTANT or shares[1] > PAIR:
            return False
        if steps is not None and not _decided_by(instances, keys, steps, solution):
            return False
    return True


def _accepted_shares(family: Family, instances: list[Any], answers: list[Any]) -> tuple[float, float]:
    """Return how often the best constant and the best two are accepted, of the answers to other instances."""
    right = accepting(family)
    return candidate_shares([[right(inputs, answer) for answer in answers] for inputs in instances])


def _decided_by(instances: list[Any], keys: list[str], steps: Steps, solution: Callable[..., Any]) -> bool:
    if steps.changes is not None:
        changed = [change for inputs in instances for change in steps.changes(inputs)]
        if sum(changed) < CHANGING * len(changed):
            return False
    shorter = [
        {**inputs, steps.key: inputs[steps.key][: -max(1, len(inputs[steps.key]) // 3)]}
        for inputs in instances
    ]
    return sum(
        _key_of(solution, inputs) != key for inputs, key in zip(shorter, keys, strict=True)
    ) >= DECIDING * len(keys)


def _key_of(solution: Callable[..., Any], inputs: Any) -> str:
    try:
        return answer_text(solution(inputs))
    except (ValueError, IndexError, KeyError):  # a question on a step that is gone
        return ""
