"""Gate 2b, a second reviewer: the text solver, which answers questions from their text by code whose author
saw no family's programs (evolake.families.text_solver).

It reads every instance of the sample. What it cannot read is unread and says nothing, neither for a family
nor against it. If it can, and the label is not what the text gives, the family is blocked: text and programs
do not mean the same. With checkers, the label must fit the text, and the answer found from the text must be
accepted by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.gates.blind import LONGEST_ANSWER, TEXT, Review
from evolake.families.gates.consensus import Vote, right_answers
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family, as_json
from evolake.families.sandbox.running import Instance, called
from evolake.families.settings import FamiliesSettings

SOLVER = "evolake.families.text_solver.reviewing:review"
AT_ONCE = 8
"""Questions of one jail call."""
LEAST_READ = 0.8
"""Share of the questions that must be read, for answers to count as reviews of the family."""
SHOWN = 3
"""Disagreements that the evidence has in full."""
LONGEST = 300


@dataclass(frozen=True)
class TextReading:
    """What the text solver made of a family: its reviews, none if the family is unread, and the evidence."""

    reviews: tuple[Review, ...]
    evidence: dict[str, Any]


def read_texts(
    family: Family,
    instances: Sequence[Instance],
    votes: Sequence[Vote],
    *,
    first: int,
    pool: Any,
    settings: FamiliesSettings,
) -> TextReading:
    """Return what the text solver makes of these instances.

    evidence: `asked`, `read` and `differ` are numbers of questions, `unread` is the first part without a
    meaning, `wrong` has some of those that differ: difficulty, seed, question, answer, label, sentence.

    votes: on the same instances; one without a label is not asked. first: number of the first review. Raises
    MachineryError when the jail failed.
    """
    asked = [
        (item, vote)
        for item, vote in zip(instances, votes, strict=True)
        if item.status == "ok" and vote.decided and vote.label is not None
    ]
    said = _answers([(item.text, vote.label) for item, vote in asked], pool=pool, settings=settings)
    read = [
        (item, vote, found)
        for (item, vote), found in zip(asked, said, strict=True)
        if found["status"] != "unread"
    ]
    right = _right(family, read, pool=pool, settings=settings)
    common = _in_all([found["rules"] for *_, found in read])
    wrong = [
        {
            "difficulty": item.difficulty,
            "seed": item.seed,
            "question": item.text.rstrip().rpartition("\n")[2][-LONGEST:],
            "answer": found["why"] or found["answer"],
            "label": vote.label,
            "sentence": (found["sentence"] or " ".join(common) or " ".join(found["rules"]))[:LONGEST],
        }
        for (item, vote, found), fits in zip(read, right, strict=True)
        if not fits
    ]
    enough = bool(asked) and len(read) >= LEAST_READ * len(asked)
    reviews = [
        Review(
            first + number,
            item.difficulty,
            item.seed,
            TEXT,
            found["status"],
            _shown(found["answer"]),
            vote.label,
            fits,
            (),
            found["why"],
        )
        for number, ((item, vote, found), fits) in enumerate(zip(read, right, strict=True))
    ]
    unread = next((found["sentence"] for found in said if found["status"] == "unread"), "")
    evidence = {"asked": len(asked), "read": len(read), "unread": unread, "differ": len(wrong)}
    return TextReading(tuple(reviews) if enough else (), evidence | {"wrong": wrong[:SHOWN]})


def _answers(
    questions: Sequence[tuple[str, Any]], *, pool: Any, settings: FamiliesSettings
) -> list[Mapping[str, Any]]:
    """Return what the solver says of (text, label) each, as `reviewing.review`; unread where a call did not
    end within its limits."""
    found: list[Mapping[str, Any]] = []
    for start in range(0, len(questions), AT_ONCE):
        some = [{"text": text, "label": label} for text, label in questions[start : start + AT_ONCE]]
        outcome = called(pool, SOLVER, "", {"questions": some}, caps_of(settings))
        if outcome.status == "ok" and isinstance(outcome.value, list) and len(outcome.value) == len(some):
            found += outcome.value
        else:
            why = f"{outcome.status}: {outcome.reason}"[:LONGEST]
            found += [{"status": "unread", "sentence": why} for _ in some]
    return found


def _right(
    family: Family,
    read: Sequence[tuple[Instance, Vote, Mapping[str, Any]]],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> list[bool]:
    """Return whether text and programs agree, for each question that was read."""
    if family.checkers:
        tasks = [(item.inputs, found["answer"]) for item, _, found in read]
        accepted = right_answers(family, tasks, pool=pool, settings=settings) if tasks else []
        return [
            found["right"] and fits and found["status"] == "answered"
            for (*_, found), fits in zip(read, accepted, strict=True)
        ]
    return [
        found["right"]
        or (
            found["status"] == "answered"
            and equivalent(found["answer"], vote.label, case_sensitive=family.answer.case_sensitive)
        )
        for _, vote, found in read
    ]


def _in_all(sentences: Sequence[Sequence[str]]) -> list[str]:
    """Return the sentences that stand in all texts: the rules of the family itself."""
    if not sentences:
        return []
    return [sentence for sentence in sentences[0] if all(sentence in others for others in sentences)]


def _shown(answer: Any) -> str:
    if answer is None:
        return ""
    return (answer if isinstance(answer, str) else as_json(answer))[:LONGEST_ANSWER]
