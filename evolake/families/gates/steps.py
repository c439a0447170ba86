"""Does something happen in the steps of a run, and do the late ones decide? A switched rule can leave a world
dead that was alive as it was drawn.

Asked of families whose primary has the course of a run or of a board (see `evolake.families.worlds`); their
own programs are run in the jail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.model.contract import Family
from evolake.families.sandbox.running import Caps, Instance, Solved, solve

COURSES = {
    "events": ("played", 'played(inputs["start"], inputs)'),
    "moves": ("travelled", 'travelled(inputs["board"], inputs["moves"])'),
}
"""Key of the steps in the inputs -> the function that gives the states of a course, and its call."""
LATE = 3
"""The last of so many parts of the steps are the late ones."""


def step_evidence(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], *, pool: Any, caps: Caps
) -> list[list[float]] | None:
    """Return [level, share of the steps that change the state, share of the instances whose answer is another
    without the late steps] of each level; None for a family without a course. Raises MachineryError when the
    jail failed.
    """
    key = next(
        (
            key
            for key, (name, _) in COURSES.items()
            if re.search(rf"^def {name}\(", family.validator, re.MULTILINE)
        ),
        None,
    )
    good = [
        (item, solved)
        for item, solved in zip(instances, answers, strict=True)
        if item.status == solved.status == "ok"
    ]
    if (
        key is None
        or not good
        or not all(
            isinstance(item.inputs, dict) and isinstance(item.inputs.get(key), list) for item, _ in good
        )
    ):
        return None
    counting = (
        f"{family.validator}\n\ndef solution(inputs):\n    trace = {COURSES[key][1]}\n"
        "    return sum(one != two for one, two in zip(trace, trace[1:]))\n"
    )
    changes = solve(counting, [item.inputs for item, _ in good], pool=pool, caps=caps)
    if any(item.status != "ok" or not isinstance(item.answer, int) for item in changes):
        return None
    shorter = [
        {**item.inputs, key: item.inputs[key][: -max(1, len(item.inputs[key]) // LATE)]} for item, _ in good
    ]
    again = solve(family.validator, shorter, pool=pool, caps=caps)
    rows = []
    for level in sorted({item.difficulty for item, _ in good}):
        own = [number for number, (item, _) in enumerate(good) if item.difficulty == level]
        steps = sum(len(good[number][0].inputs[key]) for number in own)
        decided = sum(
            again[number].status != "ok"
            or not equivalent(
                good[number][1].answer, again[number].answer, case_sensitive=family.answer.case_sensitive
            )
            for number in own
        )
        rows.append(
            [level, sum(changes[number].answer for number in own) / max(steps, 1), decided / len(own)]
        )
    return rows
