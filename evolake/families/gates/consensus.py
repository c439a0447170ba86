"""Gate 2a: the label of an instance is what a strict majority of the voters answers, or, if many answers are
correct, what most checkers accept. A plurality is no consensus.

Voters are the primary and at least m independent validators. A voter that raises, times out or returns a
schema error has voted for nothing but still counts in the denominator. Copies do not vote twice: a validator
whose normalised tree is that of another voter is not independent, and no more is one that votes on no
instance at all. Source: SSLogic, section 3.3, "Gate 2", equation 1.

Negative probes are answers that are nearly right: they must be judged wrong, by the same function that gives
the reward.

With checkers a label is the primary's answer, if more than half of all checkers accept it. They are shown
answers that are nearly right, labels of other instances, and the answers of the further solvers: on each of
them all checkers must agree. Some must be accepted, or the answer is unique and the family needs no checkers;
most must be rejected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evolake.answers.matching import TOLERANCE, equivalent, matches
from evolake.answers.reading import cleaned, number
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family, as_json
from evolake.families.model.similarity import jaccard, normalised, sketch
from evolake.families.sandbox.running import (
    Instance,
    Solved,
    accepted,
    by_majority,
    check,
    checker_on_answers,
    solve,
)
from evolake.families.settings import FamiliesSettings


@dataclass(frozen=True)
class Vote:
    """The votes on one instance. label is None if no strict majority agrees; `for_label` names those who
    voted for it."""

    difficulty: int
    seed: int
    label: Any
    decided: bool
    for_label: tuple[str, ...]
    answers: dict[str, Any]
    statuses: dict[str, str]

    @property
    def primary_agrees(self) -> bool:
        """Return whether the primary validator votes for the label."""
        return "primary" in self.for_label


MAX_HALF = 2**28
"""Below this a half is more than the tolerance of 1e-9."""


def wrong_answers(label: Any) -> list[Any]:
    """Return perturbations of a label: neighbours, sign, order, length, type. None of them is the label."""
    return [answer for answer in [*_perturbed(label), "N/A", ""] if not _same(answer, label)]


def accepted_wrongly(label: Any, *, case_sensitive: bool = True) -> list[str]:
    """Return those perturbations that a reply could give and be rewarded for."""
    replies = [
        "\\boxed{" + (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)) + "}"
        for answer in wrong_answers(label)
    ]
    return [reply for reply in replies if matches(reply, label, case_sensitive=case_sensitive)]


def _perturbed(label: Any) -> list[Any]:
    if isinstance(label, bool):
        return [not label, int(label), [label]]
    if isinstance(label, int):
        near = [label + 0.5] if abs(label) < MAX_HALF else []
        return [label + 1, label - 1, -label, 10 * label, *near, str(label) + "x", [label, label]]
    if isinstance(label, float):
        return [label * 1.001 + 1e-6, -label, 1.01 * label + 1, [label, label]]
    if isinstance(label, str):
        if number(cleaned(label)) is not None:  # cutting digits may leave the same number
            return ["9" + label, label + "x", [label, label]]
        return [label + "x", label[1:], label[::-1], label + label, [label, label]]
    if isinstance(label, list):
        inner = [[wrong, *label[1:]] for wrong in _perturbed(label[0])[:3]] if label else []
        return [label[:-1], [*label, 0], label[::-1], [label, label], *inner]
    if isinstance(label, dict) and label:
        key = sorted(label)[0]
        rest = {other: value for other, value in label.items() if other != key}
        return [
            rest,
            {**label, "extra key": 0},
            *({**label, key: wrong} for wrong in _perturbed(label[key])[:3]),
        ]
    return [0, [0]]


def _same(answer: Any, label: Any) -> bool:
    """Equal as values: 1, 1.0 and the text "1" are one thing to who judges, and so are an empty list and an
    empty mapping; True is another than 1."""
    if isinstance(answer, list | dict) and isinstance(label, list | dict) and not answer and not label:
        return True
    if isinstance(answer, list) and isinstance(label, list):
        return len(answer) == len(label) and all(
            _same(first, other) for first, other in zip(answer, label, strict=True)
        )
    if isinstance(answer, dict) and isinstance(label, dict):
        return answer.keys() == label.keys() and all(
            _same(value, label[key]) for key, value in answer.items()
        )
    item, other = _number(answer), _number(label)
    if item is not None and other is not None:
        return _near(item, other)
    return item is other is None and json.dumps(answer, sort_keys=True) == json.dumps(label, sort_keys=True)


def _number(value: Any) -> Fraction | float | None:
    """Return the value of a number, or of a text that reads as one."""
    if isinstance(value, str):
        result = number(cleaned(value))
        return None if result is None else result[0]
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _near(first: Fraction | float, other: Fraction | float) -> bool:
    """Equal, or, where one of them is no integer, within the tolerance: two elements of a list that are so
    near may change places."""
    if any(isinstance(value, float) and not math.isfinite(value) for value in (first, other)):
        return first == other
    first, other = (
        Fraction(repr(first) if isinstance(first, float) else first),
        Fraction(repr(other) if isinstance(other, float) else other),
    )
    integers = first.denominator == other.denominator == 1
    return first == other or (not integers and abs(first - other) <= TOLERANCE * max(abs(first), abs(other)))


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


RECORDED = 0.5
"""Similarity of normalised trees from which on evidence names two sources; from which on they are copies, the
rule says."""


def vote(solved: Mapping[str, Solved], *, case_sensitive: bool, difficulty: int = 0, seed: int = 0) -> Vote:
    """Count the votes on one instance. Answers are compared by `equivalent`; the label is the first answer,
    in order of voters, that wins."""
    answers = {name: item.answer for name, item in solved.items() if item.status == "ok"}
    statuses = {name: item.status for name, item in solved.items()}
    for answer in answers.values():
        agreed = tuple(
            name
            for name, other in answers.items()
            if equivalent(answer, other, case_sensitive=case_sensitive)
        )
        if 2 * len(agreed) > len(solved):
            return Vote(difficulty, seed, answer, True, agreed, answers, statuses)
    return Vote(difficulty, seed, None, False, (), answers, statuses)


def take_votes(
    family: Family,
    instances: Sequence[Instance],
    *,
    pool: Any,
    settings: FamiliesSettings,
    primary: Sequence[Solved] | None = None,
) -> list[Vote]:
    """Return votes on instances that are ok. primary: its answers, where they are there already. Raises
    MachineryError when the jail failed."""
    caps = caps_of(settings)
    inputs = [instance.inputs for instance in instances]
    if family.checkers:
        answers = primary if primary is not None else solve(family.validator, inputs, pool=pool, caps=caps)
        return checker_votes(family, instances, answers, pool=pool, settings=settings)
    columns: dict[str, Sequence[Solved]] = {}
    for name, source in family.voters().items():
        columns[name] = (
            primary
            if name == "primary" and primary is not None
            else solve(source, inputs, pool=pool, caps=caps)
        )
    return [
        vote(
            {name: column[number] for name, column in columns.items()},
            case_sensitive=family.answer.case_sensitive,
            difficulty=instance.difficulty,
            seed=instance.seed,
        )
        for number, instance in enumerate(instances)
    ]


def alike(family: Family) -> list[tuple[str, str, float]]:
    """Return (voter, an earlier voter, similarity of their normalised trees), of all pairs at least half
    alike; 1 where the trees are the same."""
    voters = [(name, words := normalised(source), sketch(words)) for name, source in family.voters().items()]
    pairs = (
        (name, earlier, 1.0 if words == others else jaccard(ours, theirs))
        for number, (name, words, ours) in enumerate(voters)
        for earlier, others, theirs in voters[:number]
    )
    return [pair for pair in pairs if pair[2] >= RECORDED]


def consensus_evidence(family: Family, votes: Sequence[Vote]) -> dict[str, Any]:
    """Return what the rules of gate 2a judge, as plain JSON."""
    return {
        "kind": "checkers" if family.checkers else "validators",
        "validators": independent(family),
        "alike": [[name, earlier, round(similarity, 6)] for name, earlier, similarity in alike(family)],
        "silent": silent_validators(family, votes),
        "instances": len(votes),
        "undecided": [shown(item) for item in votes if not item.decided],
        "primary_wrong": [shown(item) for item in votes if item.decided and not item.primary_agrees],
        "dissent": {
            name: sum(item.decided and name not in item.for_label for item in votes)
            for name in family.voters()
        },
    }


def independent(family: Family) -> list[str]:
    """Return the voters next to the primary, by name."""
    return list(family.voters())[1:]


def silent_validators(family: Family, votes: Sequence[Vote]) -> list[str]:
    """Return the validators that have an answer to none of the instances, by name."""
    return [name for name in independent(family) if votes and not any(name in item.answers for item in votes)]


def shown(item: Vote) -> dict[str, Any]:
    """Return a vote for a report: difficulty, seed, and what each voter said."""
    return {
        "difficulty": item.difficulty,
        "seed": item.seed,
        "label": item.label,
        "answers": {name: item.answers.get(name, status) for name, status in item.statuses.items()},
    }
