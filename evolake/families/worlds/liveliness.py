"""Try a world while it is drawn, by its own sources, without a jail: it is alive if at every level no answer
is a good guess, its steps change the state, its late steps decide the answer, and without any of its rules
answers are others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.guessing import candidate_shares, constant_share, pair_share
from evolake.families.model.without_rules import NOTHING, says_something, ways_without


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


def accepting(family: Family) -> Callable[[Any, Any], bool]:
    """Return whether an answer to some inputs is right, by the family's first checker; equal to the primary's
    where it has none."""
    if family.checkers:
        check = entry(next(iter(family.checkers.values())), "check")
        return lambda inputs, answer: check(inputs, answer) is True
    solution = entry(family.validator, "solution")
    return lambda inputs, answer: answer_text(solution(inputs)) == answer_text(answer)


LEVELS = (5, 1, 10, 3, 7)
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


BITING, BITING_FROM = 0.3, 3
"""Least share of the instances of a level whose answer is another without a rule, from this level on. The gate
wants 20 %: this leaves room for chance."""


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
    bites = _Bites(family)
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
        if level >= BITING_FROM and not bites.at(instances):
            return False
    return bites.everywhere()


class _Bites:
    """How many answers are others without each rule of a family, level by level. Where nothing holds instead
    of a rule, only all levels together say whether that is what the rule says anyway."""

    def __init__(self, family: Family):
        self.right = accepting(family)
        self.ways = [(item, entry(item.source, "solution")) for item in ways_without(family)]
        self.asked = 0
        self.nothing: dict[int, list[tuple[int, int]]] = {}

    def at(self, instances: list[Any]) -> bool:
        """Return whether enough answers at this level are others by every alternative; note what is without
        any."""
        self.asked += len(instances)
        for place, (way, solution) in enumerate(self.ways):
            answers = [_answer_of(solution, inputs) for inputs in instances]
            answered = [
                self.right(inputs, answer)
                for inputs, answer in zip(instances, answers, strict=True)
                if answer is not None or way.way != NOTHING
            ]
            if way.way == NOTHING:
                self.nothing.setdefault(place, []).append((len(answered), len(answered) - sum(answered)))
            elif len(answered) - sum(answered) < BITING * len(answered):
                return False
        return True

    def everywhere(self) -> bool:
        """Return whether enough answers are others at every level with nothing instead of a rule."""
        first: dict[str, list[tuple[int, int]]] = {}
        for place, counts in self.nothing.items():
            answered, changed = (sum(column) for column in zip(*counts, strict=True))
            if says_something(NOTHING, self.asked, answered, changed):
                first.setdefault(self.ways[place][0].point, counts)
        return all(changed >= BITING * answered for counts in first.values() for answered, changed in counts)


def _answer_of(solution: Callable[..., Any], inputs: Any) -> Any:
    """Return the answer; None where there is none without the rule."""
    try:
        return solution(inputs)
    except Exception:  # of a program that lacks a part, whatever it is
        return None


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
