"""Say what `evolake families check` prints next to the verdict: readings that text and programs do not share,
voters that are outvoted, blind reviews that do not match, and all that the evidence of gates names without
blocking for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evolake.families.gates.static import commonest_share
from evolake.jail.protocol import one_line
from evolake.report.gain import counted

if TYPE_CHECKING:
    from evolake.families.gates.blind import Review
    from evolake.families.gates.consensus import Vote
    from evolake.families.gates.judging import FamilyResults
    from evolake.families.readings.places import ReadingPlace

FROM_DIFFICULTY, ONE_SIDED = 5, 0.5
"""Difficulty from which on answers are compared, and the share of one answer from which on it is named."""
LONGEST = 200
"""Characters of an answer, or of what a program printed."""


def remarks(result: FamilyResults, readings: Sequence[ReadingPlace] = ()) -> list[str]:
    """Return everything that evidence and readings name, in sentences for the author of the family."""
    return [
        *(place.remark() for place in readings if place.open),
        *voter_sentences(result),
        *(review_sentence(review) for review in result.reviews if not review.matched),
        *evidence_sentences(result.evidence),
    ]


def evidence_sentences(evidence: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the evidence of gates names without blocking for it: votes of one side, sentences and words
    that no program reads, numbers."""
    parts: list[str] = []
    votes, text, sample = (
        evidence.get("consensus", {}),
        evidence.get("sentences", {}),
        evidence.get("static", {}),
    )
    parts += [
        f"the validators {name} and {other} are {share:.0%} alike: their votes may be one"
        for name, other, share in votes.get("alike", ())
    ]
    if sample.get("answers") and (share := commonest_share(sample["answers"], FROM_DIFFICULTY)) >= ONE_SIDED:
        parts.append(
            f"one answer holds in {share:.0%} of the instances at difficulty {FROM_DIFFICULTY} and above"
        )
    if not text:
        return parts
    if not text.get("has_reader", True):
        parts.append("nothing reads the text: each of its sentences could say another thing")
        return parts
    unread = text.get("unread", ())
    parts += [f"no program reads the sentence {one_line(sentence, LONGEST)!r}" for sentence in unread]
    loose: dict[str, list[str]] = {}
    for shown in text.get("loose", ()):
        start, word, end = shown.split("*", 2) if shown.count("*") == 2 else ("", shown, "")
        loose.setdefault(f"{start}{word}{end}", []).append(word)
    for sentence, words in loose.items():
        if sentence not in unread:
            parts.append(
                f"no program reads the words {', '.join(dict.fromkeys(words))} in "
                f"{one_line(sentence, LONGEST)!r}"
            )
    if text.get("misread"):
        parts.append(
            f"the reader hands on other inputs than the generator's for {text['misread']} statements"
        )
    parts += [
        f"all programs decide by the number {number}, and the text does not say it"
        for number in text.get("unsaid", ())
    ]
    parts += [
        f"the text says {value}, and no code that decides has it: {one_line(said, LONGEST)!r}"
        for value, said in text.get("unbacked", ())
    ]
    parts += [
        f"a number can be another and no answer changes: {one_line(said, LONGEST)!r}"
        for _, said in text.get("idle", ())
    ]
    parts += [
        f"the rule {name} can be another and no answer changes: {one_line(said, LONGEST)!r}"
        for name, said in text.get("dead", ())
    ]
    parts += [
        f"the function {name} can lose its work and no answer changes"
        for name in text.get("dead_functions", ())
    ]
    return parts


def voter_sentences(result: FamilyResults) -> list[str]:
    """Return one sentence per voter that is outvoted or gives no answer on some instance of the sample."""
    parts: list[str] = []
    for name in result.family.voters():
        kind = "checker" if name in result.family.checkers else "validator"
        who = "the primary validator" if name == "primary" else f"the {kind} {name}"
        parts += [*_outvoted(name, who, result.sample_votes), *_silent(name, who, result.sample_votes)]
    return parts


def _outvoted(name: str, who: str, votes: tuple[Vote, ...]) -> list[str]:
    lost = [vote for vote in votes if vote.decided and name in vote.answers and name not in vote.for_label]
    if not lost:
        return []
    first = lost[0]
    where = f"{who} is outvoted on {len(lost)} of {counted(len(votes), 'instance')}"
    return [
        f"{where}; at difficulty {first.difficulty}: it answers {_answer_text(first.answers[name])}, the "
        f"majority {_answer_text(first.label)}"
    ]


def _silent(name: str, who: str, votes: tuple[Vote, ...]) -> list[str]:
    lost = [vote for vote in votes if name not in vote.answers]
    if not lost:
        return []
    first = lost[0]
    return [
        f"{who} gives no answer on {len(lost)} of {counted(len(votes), 'instance')}; at difficulty "
        f"{first.difficulty}: {first.statuses[name]}"
    ]


def review_sentence(review: Review) -> str:
    """Return what a blind review answered, or what it failed at, and what would have been right."""
    label = (
        "no answer has a strict majority"
        if review.label is None
        else f"the label is {_answer_text(review.label)}"
    )
    if review.status == "answered":
        said = f"answered {one_line(review.answer, LONGEST)}"
    elif review.turns and "\\boxed" not in review.turns[-1].output:
        said = (
            f"{review.status}, as its program ended so: "
            f"{one_line(review.turns[-1].output, LONGEST) or 'nothing was printed'}"
        )
    else:
        said = f"{review.status}: {one_line(review.note, LONGEST)}" if review.note else review.status
    return f"the blind review at difficulty {review.difficulty} (by {review.reviewer}) {said}; {label}"


def _answer_text(answer: Any) -> str:
    return one_line(
        answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str), LONGEST
    )
