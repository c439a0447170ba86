"""Probe the verifiers of the user's own before anything is trained: on a right, a wrong, an empty and hostile
replies to a few of the problems."""

from __future__ import annotations

import json
from collections.abc import Sequence

from evolake.answers.asking import AnswerFormat
from evolake.answers.matching import equivalent
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.row_recipes import label_text
from evolake.verifiers.own import (
    Probe,
    ScoredReply,
    is_own,
    open_own_pool,
    probe_verifier,
    right_replies,
    verifier_of,
)

PROBED = 3
"""Problems of each verifier that it is probed on: the first, the middle one and the last."""
NO_ANSWER = "I do not know."


def probe_verifiers(problems: Sequence[Problem], answer_format: AnswerFormat) -> dict[str, list[Probe]]:
    """Return scorer -> its probes, of every verifier of the user's own among the problems; {} without any.

    Raises:
        InputError: a verifier does not give 1 to a right reply, or does to another one. MachineryError: the
            jail failed.
    """
    by_scorer: dict[str, list[Problem]] = {}
    for problem in problems:
        if is_own(problem.scorer):
            by_scorer.setdefault(problem.scorer, []).append(problem)
    return {scorer: _probed(some, answer_format) for scorer, some in by_scorer.items()}


def _probed(problems: Sequence[Problem], answer_format: AnswerFormat) -> list[Probe]:
    verifier = verifier_of(problems[0].entry, f"problem {problems[0].problem_id[:12]}")
    chosen = [problems[place] for place in sorted({0, len(problems) // 2, len(problems) - 1})][:PROBED]
    asked = [
        ScoredReply(verifier, _in_form(item.answer, answer_format), json.loads(item.answer), item.text)
        for item in chosen
    ]
    with open_own_pool([verifier], len(asked)) as pool:
        if verifier.makes_right_replies:
            samples = [(item, NO_ANSWER) for item in right_replies(asked, pool=pool)]
        else:
            samples = [
                (item, _wrong_reply(problem, problems, answer_format))
                for item, problem in zip(asked, chosen, strict=True)
            ]
        return probe_verifier(samples, pool=pool)


def _in_form(answer: str, answer_format: AnswerFormat) -> str:
    """Return the reply that gives a label in the asked form."""
    shown = label_text(json.loads(answer))
    return f"\\boxed{{{shown}}}" if answer_format == "boxed" else shown


def _wrong_reply(problem: Problem, others: Sequence[Problem], answer_format: AnswerFormat) -> str:
    """Return the reply that gives the label of another problem, one that is not the same answer."""
    label = json.loads(problem.answer)
    wrong = next(
        (
            item.answer
            for item in others
            if not equivalent(json.loads(item.answer), label, case_sensitive=False)
        ),
        None,
    )
    return NO_ANSWER if wrong is None else _in_form(wrong, answer_format)
