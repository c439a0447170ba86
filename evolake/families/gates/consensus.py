"""Gate 2a: the label of an instance is what a strict majority of the voters answers. A plurality is no
consensus.

Voters are the primary and at least m independent validators. A voter that raises, times out or returns a
schema error has voted for nothing but still counts in the denominator. Copies do not vote twice: a validator
whose normalised tree is that of another voter is not independent, and no more is one that votes on no
instance at all, however much the others agree. Source: SSLogic, section 3.3, "Gate 2", equation 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.gates.checked_answers import checker_votes
from evolake.families.gates.execution import caps_of
from evolake.families.gates.votes import Vote
from evolake.families.model.contract import Family
from evolake.families.model.similarity import jaccard, normalised, sketch
from evolake.families.sandbox.running import Instance, Solved, solve
from evolake.families.settings import FamiliesSettings

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
