"""Score a reply: whether it is correct, and apart from that whether it has the form that was asked for.

A small model learns the form long before it learns anything else, so the two are never one number except in
the reward. The answer of a reply is the content of its last \\boxed{...}; in the format `last`, if there is
no box, it is what the reply ends with (`evolake.answers.ending`). A question that asks for it after `####` or
`Answer:` is answered there, at the start of a line. Calls of tools and their results are no
part of what is read. Comparison is `evolake.answers`, the same that labels the problems; nothing is evaluated
here.

A dataset's own verifier, which may evaluate, scores the answer in the jail before (`verified`), all replies
of a batch at the same time: right is what it gives 1, and what it gives less counts in the reward alone. It
gets the content of the box; a reply without an answer is worth 0 unasked. A verifier of the user's own gets
the whole reply. The jail is there for the batch alone: it holds the libraries in memory, which the weights
need in between.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evolake.answers.asking import AnswerFormat
from evolake.answers.ending import ending
from evolake.answers.forms import asked_units
from evolake.answers.matching import answers
from evolake.answers.reading import extract_boxed, final_part
from evolake.errors import MachineryError
from evolake.gates import Raised, contained
from evolake.prompts.model.protocol import ANSWER, ANY, EXACT, Problem, Rollout, Sample
from evolake.prompts.model.recipes import CORRECT, Recipe
from evolake.prompts.model.row_recipes import asked_mark
from evolake.verifiers.external import GYM_PRELOAD, SCORER, Asked, Verified, require_library, score_replies
from evolake.verifiers.own import OwnVerifier, ScoredReply, is_own, open_own_pool, score_own, verifier_of

if TYPE_CHECKING:
    from evolake.prompts.model.prompt import SystemPrompt


@dataclass(frozen=True)
class Answered:
    """What a reply answers. formatted: it is where and as the format wants it."""

    answer: str
    formatted: bool


@dataclass(frozen=True)
class Judgement:
    """answer: what was read as the reply's answer; None if nothing could be. formatted: it is where and as
    the format wants it. score: 0 to 1; 1 is correct, and only a dataset's own verifier gives what is between.
    unverified: why that gave none."""

    answer: str | None
    correct: bool
    formatted: bool
    score: float = 0.0
    unverified: str | None = None


def judge_reply(
    reply: str,
    problem: Problem,
    answer_format: AnswerFormat,
    *,
    truncated: bool = False,
    verified: Verified | None = None,
) -> Judgement:
    """Judge one reply.

    formatted: in the format `boxed`, the answer is in a box; in `last`, it is in a box or the reply ends with
    it by itself (it was not cut off). A reply that makes our code raise gives no answer. verified: what the
    own verifier of the problem's dataset said, where that is its scorer.

    Raises:
        MachineryError: the problem has its own verifier, and that was not asked.
    """
    if (problem.scorer == SCORER or is_own(problem.scorer)) and verified is None:
        raise MachineryError(
            f"the verifier of problem {problem.problem_id[:12]} was not asked",
            do="ask it first: evolake.prompts.model.scoring",
        )
    result = contained(_judgement, reply, problem, answer_format, truncated, verified)
    return Judgement(None, False, False) if isinstance(result, Raised) else result


def read_answer(
    reply: str, problem: Problem, answer_format: AnswerFormat, *, truncated: bool = False
) -> Answered | None:
    """Return what is read as the reply's answer; None if nothing can be, or our code raises."""
    result = contained(_answered, reply, problem, answer_format, truncated)
    return None if isinstance(result, Raised) else result


def _judgement(
    reply: str, problem: Problem, answer_format: AnswerFormat, truncated: bool, verified: Verified | None
) -> Judgement:
    result = _answered(reply, problem, answer_format, truncated)
    if (
        is_own(problem.scorer) and verified is not None
    ):  # it reads the whole reply, and may find an answer where we read none
        found = Answered(reply if verified.score else "", False) if result is None else result
        return Judgement(
            found.answer or None, verified.score == 1.0, found.formatted, verified.score, verified.failure
        )
    if result is None:
        return Judgement(None, False, False)
    label = json.loads(problem.answer)
    if problem.scorer == SCORER and verified is not None:
        return Judgement(
            result.answer, verified.score == 1.0, result.formatted, verified.score, verified.failure
        )
    correct = COMPARED[problem.scorer](result.answer, label, problem)
    return Judgement(result.answer, correct, result.formatted, float(correct))


def _answered(reply: str, problem: Problem, answer_format: AnswerFormat, truncated: bool) -> Answered | None:
    mark = asked_mark(problem.text)
    if mark and (found := re.findall(rf"^\W*{mark}[*\s]*(\S.*?)\s*$", final_part(reply), re.M | re.I)):
        return Answered(extract_boxed(found[-1]) or found[-1].strip("$*"), True)
    boxed = extract_boxed(reply)
    if boxed is not None:
        return Answered(boxed, mark is None)
    if answer_format == "boxed":
        return None
    label, units = json.loads(problem.answer), asked_units(problem.text)
    read = [ending(reply, one, units) for one in (label if problem.scorer == ANY else [label])]
    answered = [
        Answered(one.text, one.last and not truncated and mark is None) for one in read if one is not None
    ]
    right = [one for one in answered if problem.scorer == ANY and _same_as_any(one.answer, label, problem)]
    return next(iter([*right, *answered]), None)


def _same_answer(answer: str, label: Any, problem: Problem) -> bool:
    return answers(answer, label, case_sensitive=problem.case_sensitive, units=asked_units(problem.text))


def _same_as_any(answer: str, labels: Any, problem: Problem) -> bool:
    return any(_same_answer(answer, label, problem) for label in labels)


def _same_text(answer: str, label: Any, problem: Problem) -> bool:
    shown = label if isinstance(label, str) else json.dumps(label, ensure_ascii=False)
    return answer.strip() == shown.strip() or (
        not problem.case_sensitive and answer.strip().casefold() == shown.strip().casefold()
    )


BELOW_CORRECT = math.nextafter(CORRECT, 0.0)
"""The most that an answer which is not correct is worth: an update takes a reward of `CORRECT` for a
success."""

COMPARED: dict[str, Callable[[str, Any, Problem], bool]] = {
    ANSWER: _same_answer,
    EXACT: _same_text,
    ANY: _same_as_any,
}
"""Scorer -> whether the answer of a reply is the right one, where that is found by comparing. answer: as
docs/answers.md has it."""


def judge_with(
    recipe: Recipe, answer_format: AnswerFormat, format_bonus: float = 0.0
) -> Callable[[SystemPrompt, Problem, int, Sample], Rollout]:
    """Return the judge of an iteration: (prompt, problem, number, sample) -> rollout.

    The reward is 1 for a correct answer (the score, where a dataset's own verifier gives one), plus
    `format_bonus` for the right form, and below 1 where the answer is not correct; None where the recipe
    rejects the sample: a wrong answer ("incorrect"), or none that can be read ("unanswered").
    """

    def judge(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
        result = judge_reply(
            sample.said, problem, answer_format, truncated=sample.truncated, verified=sample.verified
        )
        rejected = (recipe.rejects == "incorrect" and not result.correct) or (
            recipe.rejects == "unanswered" and result.answer is None
        )
        worth = CORRECT * result.score + format_bonus * result.formatted
        if rejected:
            reward = None
        elif result.correct:
            reward = worth
        else:
            reward = min(worth, BELOW_CORRECT)
        return Rollout(
            prompt.prompt_id,
            problem.problem_id,
            number,
            sample.reply,
            sample.tokens,
            sample.truncated,
            result.correct,
            result.formatted,
            reward,
            result.unverified,
            sample.calls,
        )

    return judge


MOST_JAILS = 4
"""Jails of one batch: each imports the library first, which takes longer than scoring a hundred replies."""
EACH = 50
"""Replies that are worth another jail."""


def verified(
    pairs: Sequence[tuple[Any, Problem]], samples: Sequence[Sequence[Sample]], answer_format: AnswerFormat
) -> list[list[Sample]]:
    """Return the samples of all pairs (prompt, problem), those of problems with a verifier with what it said
    of them.

    Raises:
        InputError: reasoning-gym is not installed, or is of a version that makes other problems.
            MachineryError: the jail failed.
    """
    asked = [(problem, sample) for (_, problem), some in zip(pairs, samples, strict=True) for sample in some]
    said = iter(
        verify([(problem, sample.said, sample.truncated) for problem, sample in asked], answer_format)
    )
    return [
        [replace(sample, verified=result) if (result := next(said)) else sample for sample in some]
        for some in samples
    ]


def verify(asked: Sequence[tuple[Problem, str, bool]], answer_format: AnswerFormat) -> list[Verified | None]:
    """Return what their verifiers say of (problem, reply, truncated), in their order; None where a problem
    has none. Raises as `verified`."""
    places, entries, result = [], [], list[Verified | None]()
    own = own_scores(asked)
    for place, (problem, reply, truncated) in enumerate(asked):
        result.append(Verified(0.0) if problem.scorer == SCORER else own.get(place))
        if (
            problem.scorer == SCORER
            and (answer := read_answer(reply, problem, answer_format, truncated=truncated)) is not None
        ):
            places.append(len(result) - 1)
            entries.append(Asked(json.loads(problem.entry or "{}"), answer.answer, problem.text))
    if not entries:
        return result
    from evolake.jail import open_pool

    require_library()
    workers = min(MOST_JAILS, os.cpu_count() or 1, 1 + len(entries) // EACH)
    with open_pool(workers=workers, preload=GYM_PRELOAD) as pool:
        for place, item in zip(places, score_replies(entries, pool=pool), strict=True):
            result[place] = item
    return result


def own_scores(asked: Sequence[tuple[Problem, str, bool]]) -> dict[int, Verified]:
    """Return place -> score of the replies to problems with a verifier of the user's own. Raises
    MachineryError: the jail failed."""
    carried: dict[str, OwnVerifier] = {}
    entries: dict[int, ScoredReply] = {}
    for place, (problem, reply, _) in enumerate(asked):
        if is_own(problem.scorer):
            verifier = carried.setdefault(
                problem.scorer, verifier_of(problem.entry, f"problem {problem.problem_id[:12]}")
            )
            entries[place] = ScoredReply(verifier, reply, json.loads(problem.answer), problem.text)
    if not entries:
        return {}
    with open_own_pool(list(carried.values()), len(entries)) as pool:
        return dict(zip(entries, score_own(list(entries.values()), pool=pool), strict=True))
