"""Run checkers in the jail: each is wrapped into a validator whose answer is the list of its verdicts, so it
runs as validators do.

A checker that raises an error on an answer has rejected it. One that returns anything but True or False has
no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.families.model.contract import as_json
from evolake.families.sandbox.running import Caps, Solved, solve, solve_parts
from evolake.program_templates import fill_template


def checker_on_tasks(source: str) -> str:
    """Return the checker as a validator of {"inputs", "answers"}."""
    return fill_template(
        "evolake.families.sandbox.templates.checker",
        source=source + "\n",
        inputs='task["inputs"]',
        answers='task["answers"]',
    )


def checker_on_answers(source: str, answers: Sequence[Any]) -> str:
    """Return the checker as a validator of the family's own inputs, which judges the same answers every
    time."""
    written = f"part_json.loads({as_json([*answers, ''])!r})[:-True]"
    return fill_template(
        "evolake.families.sandbox.templates.checker", source=source + "\n", inputs="task", answers=written
    )


def check(
    source: str,
    tasks: Sequence[tuple[Any, Sequence[Any]]],
    *,
    pool: Any,
    caps: Caps = Caps(),
    elsewhere: bool = False,
) -> list[Solved]:
    """Return what a checker says of answers to inputs: each result's `answer` is a list of truth values.
    Raises MachineryError when the jail failed."""
    payload = [{"inputs": inputs, "answers": list(answers)} for inputs, answers in tasks]
    return [
        verdicts(item, len(task["answers"]))
        for item, task in zip(
            solve(checker_on_tasks(source), payload, pool=pool, caps=caps, elsewhere=elsewhere),
            payload,
            strict=True,
        )
    ]


def check_parts(
    source: str, parts: Sequence[Sequence[tuple[Any, Sequence[Any]]]], *, pool: Any, caps: Caps = Caps()
) -> list[list[Solved]]:
    """Return what a checker says of several lists of tasks, as `check` does of each. Raises MachineryError
    when the jail failed."""
    payloads = [
        [{"inputs": inputs, "answers": list(answers)} for inputs, answers in tasks] for tasks in parts
    ]
    done = solve_parts(checker_on_tasks(source), payloads, pool=pool, caps=caps)
    return [
        [verdicts(item, len(task["answers"])) for item, task in zip(items, payload, strict=True)]
        for items, payload in zip(done, payloads, strict=True)
    ]


def verdicts(item: Solved, count: int) -> Solved:
    """Return the result, if it holds that many truth values; else one of status "protocol", for the checker
    shares its process with the wrapper."""
    whole = (
        isinstance(item.answer, list)
        and len(item.answer) == count
        and all(isinstance(verdict, bool) for verdict in item.answer)
    )
    return (
        item
        if item.status != "ok" or whole
        else Solved("protocol", "not a list of verdicts", None, "NoneType", None, item.cpu_s)
    )


def accepted(columns: Mapping[str, Sequence[Solved]], row: int, place: int) -> dict[str, bool]:
    """Return checker -> its verdict on answer number `place` of task number `row`; a checker without verdicts
    is left out."""
    return {name: column[row].answer[place] for name, column in columns.items() if column[row].status == "ok"}


def by_majority(said: Mapping[str, bool], checkers: int) -> bool | None:
    """Return the verdict of more than half of all checkers; None if there is none."""
    yes, no = sum(said.values()), sum(not verdict for verdict in said.values())
    if 2 * yes > checkers:
        return True
    if 2 * no > checkers:
        return False
    return None
