"""Evaluate the policy as it is, under one or more system prompts, on problems that were never trained on; and
select the champion.

Ratings compare prompts of different iterations through a chain of matches; the champion changes only if the
best-rated prompt and the champion, side by side on problems of the training split under the same weights,
differ beyond the noise: `evolake.contest` flips the signs of the differences of problems. Held-out problems
take no part, so that what is reported of them stays a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.contest import LEVEL, paired
from evolake.errors import InputError
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Decoding, Policy, Problem, calls_json
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import AnswerFormat, judge_reply, verified
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


def heldout_is_greedy(own: PromptsSettings) -> bool:
    """Return whether no held-out reply is drawn by chance."""
    decoding = decoding_of(own)
    return own.heldout_samples == 1 and (decoding is None or decoding.temperature == 0)


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


def decide_champion(
    champion_id: str,
    challenger_id: str,
    correct: Mapping[tuple[str, str], Sequence[bool]],
    rng: np.random.Generator,
    *,
    cycle: str,
    families: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Return a row of DECISIONS.

    Args:
        correct: (prompt id, problem id) -> whether each of its replies was correct; the same problems, as
            often, for both prompts.
        families: problem id -> its family; problems of one family are related. None, or no family: each is
            its own.

    Raises:
        ValueError: the two did not answer the same problems equally often, or none.
    """
    problems = sorted(problem for prompt, problem in correct if prompt == champion_id)
    ours, theirs = (
        [correct[prompt, problem] for problem in problems] for prompt in (challenger_id, champion_id)
    )
    if (
        not problems
        or [len(result) for result in ours] != [len(result) for result in theirs]
        or len(correct) != 2 * len(problems)
    ):
        raise ValueError("a duel needs the same problems, equally often, for both prompts")
    shares = [np.array([np.mean(result) for result in side], dtype=np.float64) for side in (ours, theirs)]
    groups = [(families or {}).get(problem) or problem for problem in problems]
    contest = paired(shares[0] - shares[1], rng, groups=groups)
    gained = (
        f"{contest.effect:+.3f} correct a reply on {len(problems)} problems, {100 * LEVEL:g}% interval "
        f"{contest.low:+.3f} to {contest.high:+.3f}"
    )
    why = contest.unseen if contest.wins else contest.reason
    return {
        "cycle": cycle,
        "champion_id": champion_id,
        "challenger_id": challenger_id,
        "wins": contest.wins,
        "problems": len(problems),
        "samples": sum(len(result) for result in ours),
        "champion_share": float(shares[1].mean()),
        "challenger_share": float(shares[0].mean()),
        "difference": contest.effect,
        "low": contest.low,
        "high": contest.high,
        "reason": f"{gained}: {why}",
        "test": contest.test,
    }
