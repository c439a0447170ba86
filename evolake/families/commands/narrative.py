"""What `evolake families check` says beside the verdict: which voter the others outvote, and what came of blind reviews that do not match."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evolake.jail.protocol import one_line
from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.families.gates.blind import Review
    from evolake.families.gates.consensus import Vote
    from evolake.families.gates.judging import FamilyResults

LONGEST = 200
"""Characters of an answer, or of what a program printed."""


def remarks(result: FamilyResults) -> list[str]:
    """Sentences for whoever wrote the family; none where all voters agree and all blind reviews match."""
    return [*voters_told(result), *(review_told(review) for review in result.reviews if not review.matched)]


def voters_told(result: FamilyResults) -> list[str]:
    """One sentence per voter that is outvoted or gives no answer on some instance of the sample."""
    parts: list[str] = []
    for name in result.family.voters():
        who = "the primary validator" if name == "primary" else f"the validator {name}"
        parts += [*_outvoted(name, who, result.sample_votes), *_silent(name, who, result.sample_votes)]
    return parts


def _outvoted(name: str, who: str, votes: tuple[Vote, ...]) -> list[str]:
    lost = [vote for vote in votes if vote.decided and name in vote.answers and name not in vote.for_label]
    if not lost:
        return []
    first = lost[0]
    where = f"{who} is outvoted on {len(lost)} of {counted(len(votes), 'instance')}"
    return [f"{where}; at difficulty {first.difficulty}: it answers {_answer_text(first.answers[name])}, the majority {_answer_text(first.label)}"]


def _silent(name: str, who: str, votes: tuple[Vote, ...]) -> list[str]:
    lost = [vote for vote in votes if name not in vote.answers]
    if not lost:
        return []
    first = lost[0]
    return [f"{who} gives no answer on {len(lost)} of {counted(len(votes), 'instance')}; at difficulty {first.difficulty}: {first.statuses[name]}"]


def review_told(review: Review) -> str:
    """What a blind review answered, or what it failed at, and what would have been right."""
    label = "no answer has a strict majority" if review.label is None else f"the label is {_answer_text(review.label)}"
    if review.status == "answered":
        said = f"answered {one_line(review.answer, LONGEST)}"
    elif review.turns and "\\boxed" not in review.turns[-1].output:
        said = f"{review.status}, as its program ended so: {one_line(review.turns[-1].output, LONGEST) or 'nothing was printed'}"
    else:
        said = f"{review.status}: {one_line(review.note, LONGEST)}" if review.note else review.status
    return f"the blind review at difficulty {review.difficulty} (by {review.reviewer}) {said}; {label}"


def _answer_text(answer: Any) -> str:
    return one_line(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str), LONGEST)
