"""Held-out evaluation: the policy as it is, under one or more system prompts, on problems that were never
trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evolake.errors import InputError
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Decoding, Policy, Problem
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import AnswerFormat, judge_reply
from evolake.prompts.model.tool_calls import calls_json
from evolake.prompts.rating.verifying import verified
from evolake.prompts.settings import PromptsSettings


@dataclass(frozen=True)
class Score:
    """Means over the replies of one prompt: share correct, share in the right form, share cut off, tokens per
    reply; replies is their number."""

    replies: int
    correct: float
    formatted: float
    truncated: float
    tokens: float


def evaluate(
    policy: Policy,
    prompts: Sequence[SystemPrompt],
    problems: Sequence[Problem],
    *,
    samples: int,
    answer_format: AnswerFormat,
    seed: int,
    decoding: Decoding | None = None,
) -> list[dict[str, Any]]:
    """Return one row per reply, in the order of prompts and problems: the columns of the table `heldout` but
    cycle, arm and iteration.

    Args:
        samples: replies per problem. decoding: how they are drawn; None: 1 is greedy, more are sampled as
            while training.

    Raises:
        InputError: one of the problems is not held out.
    """
    if strange := [problem.problem_id for problem in problems if problem.split != "heldout"]:
        raise InputError(
            "an evaluation takes held-out problems only",
            got=", ".join(strange[:5]),
            do="pass the problems of the split `heldout`",
        )
    return replies(
        policy, prompts, problems, samples=samples, answer_format=answer_format, seed=seed, decoding=decoding
    )


def decoding_of(own: PromptsSettings) -> Decoding | None:
    """Return how held-out replies are drawn by the settings; None: greedily for one reply a problem, else as
    while training."""
    if own.eval_temperature is None and (own.eval_top_p, own.eval_top_k) == (1.0, 0):
        return None
    heat = recipe_of(own).temperature if own.eval_temperature is None else own.eval_temperature
    return Decoding(heat, own.eval_top_p, own.eval_top_k)


def replies(
    policy: Policy,
    prompts: Sequence[SystemPrompt],
    problems: Sequence[Problem],
    *,
    samples: int,
    answer_format: AnswerFormat,
    seed: int,
    decoding: Decoding | None = None,
) -> list[dict[str, Any]]:
    """Return what `evaluate` gives, on problems of any split: for prompts that meet on problems of the
    training split."""
    pairs = [(prompt, problem) for prompt in prompts for problem in problems]
    rows = []
    greedy = samples == 1 if decoding is None else decoding.temperature == 0
    drawn = {} if decoding is None or greedy else {"decoding": decoding}
    answered = verified(pairs, policy.sample(pairs, samples, seed, greedy=greedy, **drawn), answer_format)
    for (prompt, problem), result in zip(pairs, answered, strict=True):
        for number, sample in enumerate(result):
            judged = judge_reply(
                sample.said, problem, answer_format, truncated=sample.truncated, verified=sample.verified
            )
            rows.append(
                {
                    "prompt_id": prompt.prompt_id,
                    "problem_id": problem.problem_id,
                    "sample": number,
                    "reply": sample.reply,
                    "tokens": sample.tokens,
                    "truncated": sample.truncated,
                    "correct": judged.correct,
                    "formatted": judged.formatted,
                    "unverified": judged.unverified,
                    "calls": calls_json(sample.calls),
                }
            )
    return rows


def scores(rows: Sequence[dict[str, Any]]) -> dict[str, Score]:
    """Return prompt id -> its means over rows of `evaluate`."""
    result: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        result.setdefault(row["prompt_id"], []).append(row)
    return {prompt_id: score(some) for prompt_id, some in result.items()}


def score(rows: Sequence[dict[str, Any]]) -> Score:
    """Return the means over some rows. Raises ValueError if there is none."""
    if not rows:
        raise ValueError("no reply to take the mean of")
    correct, formatted, truncated, tokens = (
        sum(row[name] for row in rows) / len(rows) for name in ("correct", "formatted", "truncated", "tokens")
    )
    return Score(len(rows), correct, formatted, truncated, tokens)
