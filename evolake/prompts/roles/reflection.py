"""The classical answers of the summarizer and the critic: what can be seen of replies without understanding
them.

empty       nothing was said                          near       the last number is close to the answer
unanswered  no answer in the wanted form              wrong      an answer, and another one than the true one
truncated   the limit on the length cut it off        long       failures have far more words than successes
buried      the true answer is in the reply, but not  short      failures have far fewer words than successes
            as the answer
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.prompts.model.library import SYMPTOMS, library_of
from evolake.prompts.roles.models import (
    CritiqueReply,
    CritiqueRequest,
    PrincipleText,
    SummaryReply,
    SummaryRequest,
    Trajectory,
    by_id,
)

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NEAR = 0.1
"""Relative distance at which a number is close; two apart is close for any number."""
CONTRAST = 1.5
"""Ratio of mean words that counts as far more."""


def summarise(request: SummaryRequest, random: np.random.Generator) -> SummaryReply:
    """Length and last line as the steps; the symptoms as errors, none for a correct reply. Which principles
    were used cannot be seen."""
    lines = [line.strip() for line in request.reply.splitlines() if line.strip()]
    last = lines[-1][:200] if lines else "nothing"
    return SummaryReply(
        steps=f"{len(request.reply.split())} words in {len(lines)} lines; the last one: {last}",
        errors=[]
        if request.correct
        else symptoms(request.reply, request.answer, answered=request.answered, truncated=request.truncated),
    )


def symptoms(reply: str, answer: str, *, answered: bool, truncated: bool) -> list[str]:
    """Return the symptoms of one failed reply. answer: the true one, as JSON."""
    if not reply.strip():
        return ["empty", *(["truncated"] if truncated else [])]
    true = _plain(answer)
    result = {
        "truncated": truncated,
        "unanswered": not answered,
        "buried": _holds(reply, true),
        "near": answered and _near(reply, true),
        "wrong": answered,
    }
    return [name for name, there in result.items() if there]


def criticise(request: CritiqueRequest, random: np.random.Generator) -> CritiqueReply:
    """Return symptoms of the failures, the most frequent first, and the contrast in length; insufficient are
    principles that answer one of them."""
    good = [trajectory for trajectory in request.trajectories if trajectory.success]
    bad = [trajectory for trajectory in request.trajectories if not trajectory.success]
    counts = {name: sum(item.count for item in bad if name in item.errors) for name in SYMPTOMS}
    ours, theirs = _mean_words(good), _mean_words(bad)
    if good and bad:
        counts["long"] += theirs > CONTRAST * ours
        counts["short"] += ours > CONTRAST * theirs
    failures = sorted((name for name in SYMPTOMS if counts[name]), key=lambda name: -counts[name])
    library = library_of(request.library)
    answered = {entry.name for name in failures for entry in library.answering(name)}
    return CritiqueReply(
        successes=[f"{ours:.0f} words on average"] if good else [],
        failures=failures,
        insufficient=_ids(
            principle for principle in request.principles if answered & set(library.names_of(principle.text))
        ),
    )


def _ids(principles: Iterable[PrincipleText]) -> list[str]:
    return [principle.id for principle in principles]


def _plain(answer: str) -> str:
    value = json.loads(answer)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _holds(reply: str, true: str) -> bool:
    """Return whether the answer is in the reply as a separate word or number."""
    return bool(true) and re.search(rf"(?<![\w.-]){re.escape(true)}(?!\w|\.\d)", reply) is not None


def _near(reply: str, true: str) -> bool:
    numbers = NUMBER.findall(reply)
    if not numbers or not NUMBER.fullmatch(true):
        return False
    return abs(float(numbers[-1]) - float(true)) <= max(2.0, NEAR * abs(float(true)))


def _mean_words(trajectories: list[Trajectory]) -> float:
    total = sum(trajectory.count for trajectory in trajectories)
    return sum(trajectory.words * trajectory.count for trajectory in trajectories) / total if total else 0.0


def _summary_values(request: SummaryRequest) -> dict[str, Any]:
    if request.correct:
        verdict = "correct"
    elif request.answered:
        verdict = "wrong"
    else:
        verdict = "no answer in the wanted form"
    outcome = [verdict, *(["cut off at the limit on its length"] if request.truncated else [])]
    return {
        "principles": by_id(request.principles),
        "problem": request.problem,
        "answer": request.answer,
        "reply": request.reply,
        "outcome": ", ".join(outcome),
    }


def _critique_values(request: CritiqueRequest) -> dict[str, Any]:
    shown = [
        item.model_dump(exclude_defaults=True, exclude=set() if item.steps else {"words"})
        for item in request.trajectories
    ]
    return {
        "principles": by_id(request.principles),
        "problem": request.problem,
        "answer": request.answer,
        "attempts": shown,
    }


SUMMARIZER = Role("prompts_summarizer", SummaryRequest, SummaryReply, summarise, values=_summary_values)
"""What one long rollout did and where it went wrong: mutation, step 1."""
CRITIC = Role("prompts_critic", CritiqueRequest, CritiqueReply, criticise, values=_critique_values)
"""What sets the successes on a problem apart: mutation, step 2."""
