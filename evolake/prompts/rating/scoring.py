"""What a reply is worth: whether it is correct, and apart from that whether it has the form that was asked for.

A small model learns the form long before it learns anything else, so the two are never one number except in the reward. The answer of a reply is the
content of its last \\boxed{...}; in the format `last`, where there is no box, it is the last number of the reply, or its last words, as many as the
right answer has. Comparison is `evolake.answers`: the same that labels the problems. Nothing is evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.answers.asking import AnswerFormat
from evolake.answers.forms import asked_units
from evolake.answers.matching import answers, equivalent
from evolake.answers.reading import extract_boxed, number
from evolake.gates import Raised, contained
from evolake.prompts.model.protocol import ANSWER, Problem, Rollout, Sample
from evolake.prompts.model.recipes import CORRECT, Recipe

if TYPE_CHECKING:
    from evolake.prompts.model.prompt import SystemPrompt

_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+|/\d+)?(?![\w])")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_AFTER = " \t\r\n.!?*_`$)\"'”’"


@dataclass(frozen=True)
class Judgement:
    """answer: what was read as the reply's answer; None where nothing could be. formatted: it stands where and as the format wants it."""

    answer: str | None
    correct: bool
    formatted: bool


def judge_reply(reply: str, problem: Problem, answer_format: AnswerFormat, *, truncated: bool = False) -> Judgement:
    """Judge one reply.

    formatted: in the format `boxed`, the answer is in a box; in `last`, it is in a box or the reply ends with it by itself (it was not cut off).
    A reply that makes our code raise gives no answer.
    """
    found = contained(_judgement, reply, problem, answer_format, truncated)
    return Judgement(None, False, False) if isinstance(found, Raised) else found


def _judgement(reply: str, problem: Problem, answer_format: AnswerFormat, truncated: bool) -> Judgement:
    label = json.loads(problem.answer)
    boxed = extract_boxed(reply)
    if boxed is not None:
        return Judgement(boxed, SCORERS[problem.scorer](boxed, label, problem), True)
    if answer_format == "boxed":
        return Judgement(None, False, False)
    found = _last(reply, label)
    if found is None:
        return Judgement(None, False, False)
    answer, end = found
    ends = not truncated and not reply[end:].strip(_AFTER)
    correct = equivalent(answer, label, case_sensitive=problem.case_sensitive) if problem.scorer == ANSWER else SCORERS[problem.scorer](
        answer, label, problem,
    )
    return Judgement(answer, correct, ends)


def _same_answer(answer: str, label: Any, problem: Problem) -> bool:
    return answers(answer, label, case_sensitive=problem.case_sensitive, units=asked_units(problem.text))


def _same_text(answer: str, label: Any, problem: Problem) -> bool:
    shown = label if isinstance(label, str) else json.dumps(label, ensure_ascii=False)
    return answer.strip() == shown.strip() or (not problem.case_sensitive and answer.strip().casefold() == shown.strip().casefold())


SCORERS: dict[str, Callable[[str, Any, Problem], bool]] = {ANSWER: _same_answer, "exact": _same_text}
"""Name -> whether the answer of a reply is the right one. answer: as docs/answers.md has it. exact: the same text."""


def judge_with(
    recipe: Recipe, answer_format: AnswerFormat, format_bonus: float = 0.0
) -> Callable[[SystemPrompt, Problem, int, Sample], Rollout]:
    """The judge of an iteration: (prompt, problem, number, sample) -> rollout.

    The reward is 1 for a correct answer, plus `format_bonus` for the right form; None where the recipe rejects the sample: a wrong answer
    ("incorrect"), or none that can be read ("unanswered").
    """

    def judge(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
        found = judge_reply(sample.reply, problem, answer_format, truncated=sample.truncated)
        rejected = (recipe.rejects == "incorrect" and not found.correct) or (recipe.rejects == "unanswered" and found.answer is None)
        reward = None if rejected else CORRECT * found.correct + format_bonus * found.formatted
        return Rollout(
            prompt.prompt_id, problem.problem_id, number, sample.reply, sample.tokens, sample.truncated, found.correct, found.formatted, reward,
        )

    return judge


def _last(reply: str, label: Any) -> tuple[str, int] | None:
    """(text, end) of the last number of the reply, for a label that is one; else of its last words, as many as the label has."""
    if (isinstance(label, int | float) and not isinstance(label, bool)) or (isinstance(label, str) and number(label.strip()) is not None):
        matches = list(_NUMBER.finditer(reply))
        return (matches[-1][0].replace("−", "-"), matches[-1].end()) if matches else None
    words = list(_WORD.finditer(reply))
    count = max(1, len(_WORD.findall(label))) if isinstance(label, str) else 1
    if len(words) < count:
        return None
    return reply[words[-count].start() : words[-1].end()], words[-1].end()
