"""What a drawn world's own sources say, tried while it is drawn. They are made of this room's tables and need
no jail."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from evolake.families.model.contract import Family


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
