"""Families whose questions have many correct answers: votes of checkers, replies that they judge, and probes
of the checkers themselves.

A label is the primary's answer, if more than half of all checkers accept it. The checkers are shown answers
that are nearly right, labels of other instances, and the answers of the further solvers: on each of them all
checkers must agree. Some must be accepted, or the answer is unique and the family needs no checkers; most
must be rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evolake.families.gates.execution import caps_of
from evolake.families.gates.probes import wrong_answers
from evolake.families.gates.votes import Vote
from evolake.families.model.contract import Family, as_json
from evolake.families.sandbox.checking import accepted, by_majority, check, checker_on_answers
from evolake.families.sandbox.running import Instance, Solved, solve
from evolake.families.settings import FamiliesSettings

PROBED = 12
"""Instances whose labels are probed."""
FOREIGN_LABELS = 3
"""Labels of other instances that each is probed with."""
PROBED_LABELS = 4
"""Labels whose nearly right forms are among the answers that changed checkers are tried on."""


def checker_votes(
    family: Family,
    instances: Sequence[Instance],
    answers: Sequence[Solved],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> list[Vote]:
    """Return the checkers' votes on the primary's answers. A rejected answer is decided too, without a label.
    Raises MachineryError when the jail failed.
    """
    tasks = [(instance.inputs, [solved.answer]) for instance, solved in zip(instances, answers, strict=True)]
    columns = {
        name: check(source, tasks, pool=pool, caps=caps_of(settings))
        for name, source in family.checkers.items()
    }
    votes = []
    for row, (instance, solved) in enumerate(zip(instances, answers, strict=True)):
        said = accepted(columns, row, 0) if solved.status == "ok" else {}
        verdict = by_majority(said, len(family.checkers))
        agreed = (
            ("primary", *(name for name, yes in said.items() if yes))
            if verdict
            else tuple(name for name, yes in said.items() if not yes)
        )
        votes.append(
            Vote(
                instance.difficulty,
                instance.seed,
                solved.answer if verdict else None,
                verdict is not None,
                agreed if verdict is not None else (),
                ({"primary": solved.answer} if solved.status == "ok" else {}) | said,
                {"primary": solved.status} | {name: column[row].status for name, column in columns.items()},
            )
        )
    return votes


def right_answers(
    family: Family, tasks: Sequence[tuple[Any, Any]], *, pool: Any, settings: FamiliesSettings
) -> list[bool]:
    """Return whether more than half of the checkers accept each answer; tasks are (inputs, answer). Raises
    MachineryError when the jail failed."""
    asked = [(inputs, [answer]) for inputs, answer in tasks]
    columns = {
        name: check(source, asked, pool=pool, caps=caps_of(settings))
        for name, source in family.checkers.items()
    }
    return [by_majority(accepted(columns, row, 0), len(family.checkers)) is True for row in range(len(asked))]


def checker_probes(
    family: Family,
    instances: Sequence[Instance],
    answers: Sequence[Solved],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> dict[str, Any]:
    """Return evidence on the checkers: what they say of other answers than the label. Raises MachineryError
    when the jail failed.

    probes: how many answers. accepted_wrongly: [label, answer] on which they are not of one mind.
    other_right: instances with another right answer. rejected: share of the other answers that they reject.
    refused: [solver, its answer] that they do not accept.
    """
    caps = caps_of(settings)
    good = [
        (item, solved.answer)
        for item, solved in zip(instances, answers, strict=True)
        if item.status == solved.status == "ok"
    ]
    picked = good[:: max(1, len(good) // PROBED)][:PROBED]
    found = {
        name: solve(source, [item.inputs for item, _ in picked], pool=pool, caps=caps)
        for name, source in family.validators.items()
    }
    tasks = []
    for row, (item, label) in enumerate(picked):
        foreign = [picked[(row + step) % len(picked)][1] for step in range(1, FOREIGN_LABELS + 1)]
        solved = [column[row].answer for column in found.values()]
        others = [*rearranged(label), *wrong_answers(label), *foreign]
        tasks.append((item.inputs, [*solved, *_without(label, others)]))
    columns = {name: check(source, tasks, pool=pool, caps=caps) for name, source in family.checkers.items()}
    split, refused, right, others, rejected = [], [], 0, 0, 0
    for row, ((_, label), (_, candidates)) in enumerate(zip(picked, tasks, strict=True)):
        other = False
        for place, candidate in enumerate(candidates):
            said = accepted(columns, row, place)
            same = as_json(candidate) == as_json(label)
            if len(said) < len(family.checkers) or len(set(said.values())) > 1:
                split.append([label, as_json(candidate)])
            elif place < len(found) and not all(said.values()):
                refused.append([list(found)[place], candidate])
            elif not same:
                others += 1
                rejected += not any(said.values())
                other = other or all(said.values())
        right += other
    return {
        "probes": sum(len(candidates) for _, candidates in tasks),
        "accepted_wrongly": split,
        "refused": refused,
        "probed": len(picked),
        "other_right": right,
        "rejected": rejected / others if others else 0.0,
    }


def rearranged(label: Any) -> list[Any]:
    """Return the label with two parts exchanged, for lists, mappings and texts: many puzzles allow it."""
    if isinstance(label, list) and len(label) > 1:
        return [[*label[:-2], label[-1], label[-2]], [*label[1:], label[0]]]
    if isinstance(label, str) and len(label) > 1:
        return [label[1:] + label[0], label[:-2] + label[-1] + label[-2]]
    if isinstance(label, dict) and len(label) > 1:
        keys = sorted(label)
        return [dict(zip(keys, [label[key] for key in (*keys[1:], keys[0])], strict=True))]
    return []


def judged_family(
    family: Family,
    instances: Sequence[Instance],
    answers: Sequence[Solved],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> tuple[Family, list[Solved]]:
    """Return the family with its checkers as validators, which judge the same answers on every instance, and
    what the first of them says: so text and code can be held against each other as in other families. Raises
    MachineryError when the jail failed.
    """
    labels = [solved.answer for solved in answers if solved.status == "ok"]
    known = {
        as_json(answer): answer
        for answer in [
            *labels,
            *(wrong for label in labels[:PROBED_LABELS] for wrong in wrong_answers(label)),
        ]
    }
    sources = {
        name: checker_on_answers(source, list(known.values())) for name, source in family.checkers.items()
    }
    first, *others = sources
    view = replace(
        family, validator=sources[first], validators={name: sources[name] for name in others}, checkers={}
    )
    return view, list(
        solve(view.validator, [instance.inputs for instance in instances], pool=pool, caps=caps_of(settings))
    )


def _without(label: Any, others: Sequence[Any]) -> list[Any]:
    """Other answers than the label, each once."""
    known = {as_json(answer): answer for answer in others}
    known.pop(as_json(label), None)
    return list(known.values())
