"""What `evolake families check` looks at and prints next to the verdict: what the text solver made of
the text, voters that are outvoted, blind reviews that do not match, and all that the evidence of gates names
without blocking for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.agents import Agents
from evolake.families.evolution.records import independence_seen
from evolake.families.evolution.validator_pool import PRIMARY, Written, authorship_rows
from evolake.families.gates.blind import TEXT, blind_review
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.static import commonest_share
from evolake.families.independence import MODEL, Independence, answer_row, keep_rows, rows_kept
from evolake.families.roles.readers import BLIND_ROLE
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import INDEPENDENT_ANSWERS
from evolake.jail.protocol import one_line
from evolake.lake import Lake
from evolake.report.numbers import counted
from evolake.seeds import child_seed
from evolake.settings import Settings

if TYPE_CHECKING:
    from evolake.families.gates.blind import Review
    from evolake.families.gates.consensus import Vote


FROM_DIFFICULTY, ONE_SIDED = 5, 0.5
"""Difficulty from which on answers are compared, and the share of one answer from which on it is named."""
LONGEST = 200
"""Characters of an answer, or of what a program printed."""


def remarks(result: FamilyResults) -> list[str]:
    """Return everything that evidence names, in sentences for the author of the family."""
    return [
        *voter_sentences(result),
        *(
            review_sentence(review)
            for review in result.reviews
            if not review.matched and review.reviewer != TEXT
        ),
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


SOLVER = "text solver"
"""Name of the text solver among those who answered."""
FOLDER = "folder"
"""Author of what was there before the check."""


@dataclass(frozen=True)
class Checked:
    """A family after its gates, and who solved it from its text alone."""

    result: FamilyResults
    independence: Independence

    @property
    def remarks(self) -> list[str]:
        """Return everything that is named in addition to the verdict."""
        return remarks(self.result)

    @property
    def text(self) -> dict[str, Any]:
        """Return the evidence of the text solver; empty if the gate `blind` was not reached."""
        return dict(self.result.evidence.get("blind", {}).get("text", {}))

    @property
    def summary(self) -> str:
        """Return how many questions the text solver read, and what came of it; "" if it was not asked."""
        text = self.text
        if not text:
            return ""
        if not text["read"]:
            return f"text solver: unread, as it does not know {one_line(text['unread'], LONGEST)!r}"
        differing = f"{text['differ']} of them differ" if text["differ"] else "it agrees with the programs"
        return f"text solver: {text['read']} of {counted(text['asked'], 'question')} read, {differing}"

    @property
    def verdict(self) -> str:
        """Blocked, accepted, or accepted with remarks."""
        if not self.result.accepted:
            return "blocked"
        return "accepted with remarks" if self.remarks else "accepted"


def examined_further(
    result: FamilyResults,
    written: Sequence[Written],
    *,
    pool: Any,
    readers: Agents | None,
    settings: Settings,
    root_seed: int,
) -> Checked:
    """Return what comes after the gates. An accepted family is read by `readers`. Their answers, and those
    of the text solver, are kept in the lake.

    written: validators that other authors wrote just now. Raises MachineryError when the jail failed, or the
    budget is spent.
    """
    lake, sizes = Lake(settings.require_lake()), settings.of(FamiliesSettings)
    if result.accepted and readers is not None:
        seed = child_seed(root_seed, "families", result.family_id, "readers", 0)
        reviews, _ = blind_review(result.family, pool=pool, agents=readers, settings=sizes, root_seed=seed)
        name = settings.models.get(BLIND_ROLE.name) or settings.models.get("default") or readers.backend.name
        usable = [review for review in reviews if review.status != "failed"]
        keep_rows(
            lake,
            INDEPENDENT_ANSWERS,
            [answer_row(result.family_id, MODEL, name, review) for review in usable],
        )
    by_text = [review for review in result.reviews if review.reviewer == TEXT]
    if result.accepted and by_text:
        keep_rows(
            lake,
            INDEPENDENT_ANSWERS,
            [answer_row(result.family_id, TEXT, SOLVER, review) for review in by_text],
        )
    authors = authorship_rows(result.family, written, author=FOLDER, saw=(PRIMARY,), cycle="")
    answers = rows_kept(lake, INDEPENDENT_ANSWERS, [result.family_id])
    return Checked(result, independence_seen(result, authors, answers))
