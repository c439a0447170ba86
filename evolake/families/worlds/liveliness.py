"""Try a world while it is drawn, by its own sources, without a jail: it is alive if at every level no answer
is a good guess, its steps change the state, and its late steps decide the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.guessing import candidate_shares, constant_share, pair_share


class NoWorld(ValueError):
    """The draws of a world came to nothing; other random numbers may do better."""


def entry(source: str, name: str) -> Callable[..., Any]:
    """Return the function of a source."""
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    return space[name]


def generating(source: str) -> Callable[[int, Random], Any]:
    """Return the inputs that a generator gives of (difficulty, random numbers)."""
    space: dict[str, Any] = {}
    exec(compile(source.replace("import random\n", ""), "generator", "exec"), space)

    def made(difficulty: int, random: Random) -> Any:
        space["random"] = random
        return space["input"](difficulty)[0]

    return made


def answer_text(answer: Any) -> str:
    """Return one text for equal answers."""
    return json.dumps(answer, sort_keys=True)


def by_other_rules(family: Family) -> list[str]:
    """Return the primary's source with one rule under another alternative, for each of these."""
    return [
        family.validator.replace(f'{point.constant} = "{point.chosen}"', f"{point.constant} = {item.code}")
        for point in family.points
        for item in point.alternatives
        if item.name != point.chosen
    ]


def accepting(family: Family) -> Callable[[Any, Any], bool]:
    """Return whether an answer to some inputs is right, by the family's first checker; equal to the primary's
    where it has none."""
    if family.checkers:
        check = entry(next(iter(family.checkers.values())), "check")
        return lambda inputs, answer: check(inputs, answer) is True
    solution = entry(family.validator, "solution")
    return lambda inputs, answer: answer_text(solution(inputs)) == answer_text(answer)


def all_matter(family: Family, difficulty: int, tries: int, different: int, changed: int) -> bool:
    """Return whether each rule matters: of `tries` instances of one difficulty, at least `different` answers
    differ, and by the other alternative of any rule at least `changed` are wrong."""
    make, right = generating(family.generator), accepting(family)
    instances = [make(difficulty, Random(seed)) for seed in range(tries)]

    def answers(source: str) -> list[Any]:
        return [_answer_of(entry(source, "solution"), instance) for instance in instances]

    return len({answer_text(answer) for answer in answers(family.validator)}) >= different and all(
        sum(not right(inputs, answer) for inputs, answer in zip(instances, answers(source), strict=True))
        >= changed
        for source in by_other_rules(family)
    )


def _answer_of(solution: Callable[..., Any], inputs: Any) -> Any:
    """Return the answer; None where another rule leaves no answer to a question with many."""
    try:
        return solution(inputs)
    except (ValueError, TypeError, KeyError):
        return None


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
