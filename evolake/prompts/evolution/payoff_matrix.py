"""The results of one iteration: who answered what how well, as a matrix and as rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evolake.prompts.edit_memory import Evidence, worth
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Group, Policy, Problem, Rollout, Sample, UpdateStats, calls_json
from evolake.prompts.ratings import match_variance, ranks_of
from evolake.prompts.reproduction import wins

Judge = Callable[[SystemPrompt, Problem, int, Sample], Rollout]
"""(prompt, problem, number, sample) -> the rollout with its reward."""


@dataclass(frozen=True)
class PayoffMatrix:
    """The results of an iteration. phi: (M, B) mean reward of each prompt on each problem, None if nothing
    was sampled without failure."""

    prompts: tuple[SystemPrompt, ...]
    problems: tuple[Problem, ...]
    rollouts: Mapping[tuple[str, str], tuple[Rollout, ...]]
    phi: tuple[tuple[float | None, ...], ...]

    @staticmethod
    def of(
        prompts: Sequence[SystemPrompt], problems: Sequence[Problem], rollouts: Sequence[Rollout]
    ) -> PayoffMatrix:
        """From the rollouts of all prompts."""
        held: dict[tuple[str, str], list[Rollout]] = defaultdict(list)
        for rollout in rollouts:
            held[rollout.prompt_id, rollout.problem_id].append(rollout)
        phi = tuple(
            tuple(
                _mean([worth(item) for item in held[prompt.prompt_id, problem.problem_id]])
                for problem in problems
            )
            for prompt in prompts
        )
        return PayoffMatrix(
            tuple(prompts), tuple(problems), {key: tuple(result) for key, result in held.items()}, phi
        )

    @cached_property
    def known(self) -> list[int]:
        """Places of the problems that are known for all prompts."""
        return [place for place, column in enumerate(zip(*self.phi, strict=True)) if None not in column]

    @property
    def means(self) -> list[float] | None:
        """Mean reward of each prompt over the problems that are known for all: what ranks go by. None if
        there is no such problem."""
        rows = [[row[place] or 0.0 for place in self.known] for row in self.phi]
        return [math.fsum(row) / len(self.known) for row in rows] if self.known else None

    @property
    def results(self) -> dict[str, tuple[float, int, float]]:
        """Return prompt id -> (its mean reward, the replies that this is the mean of, the variance of one),
        over the problems that are known for all; empty without any."""
        if not self.known:
            return {}
        problems = [self.problems[place].problem_id for place in self.known]
        replies = [
            sum(len(self.rollouts[prompt.prompt_id, name]) for name in problems) for prompt in self.prompts
        ]
        values = np.array([[row[place] for place in self.known] for row in self.phi], dtype=np.float64)
        variance = match_variance(values, sum(replies) / values.size)
        ids = [prompt.prompt_id for prompt in self.prompts]
        return {
            name: (mean, count, variance)
            for name, mean, count in zip(ids, self.means or [], replies, strict=True)
        }

    def evidence(self, place: int) -> list[Evidence]:
        """Return the rollouts of one prompt, by problem."""
        prompt = self.prompts[place]
        return [
            Evidence(problem, self.rollouts.get((prompt.prompt_id, problem.problem_id), ()))
            for problem in self.problems
        ]

    def best(self, population: Population) -> int:
        """Return place of the prompt with the highest mean; of equal ones that with the higher mu, then the
        youngest."""
        means = ranks_of(self.means or [0.0] * len(self.prompts))
        rows = [population.row(prompt.prompt_id) for prompt in self.prompts]
        return max(
            range(len(rows)), key=lambda place: (-means[place], rows[place]["mu"], rows[place]["number"])
        )

    def rows(self, rollouts: Sequence[Rollout]) -> list[dict[str, Any]]:
        """Return rows of the table `values`, of what was asked."""
        won = wins(self.phi)
        rows = []
        for place, prompt in enumerate(self.prompts):
            for column, problem in enumerate(self.problems):
                result = [
                    rollout
                    for rollout in rollouts
                    if (rollout.prompt_id, rollout.problem_id) == (prompt.prompt_id, problem.problem_id)
                ]
                if not result:
                    continue
                rows.append(
                    {
                        "prompt_id": prompt.prompt_id,
                        "problem_id": problem.problem_id,
                        "value": self.phi[place][column],
                        "rollouts": len(result),
                        "rejected": sum(item.reward is None for item in result),
                        "correct": sum(item.correct for item in result),
                        "formatted": sum(item.formatted for item in result),
                        "won": column in won[place],
                    }
                )
        return rows


def rewarded(
    pairs: Sequence[tuple[SystemPrompt, Problem]], samples: Sequence[Sequence[Sample]], judge: Judge
) -> tuple[list[Group], list[tuple[Rollout, bool]]]:
    """Return the groups for the update, and every rollout with whether there was no reply at all. Numbers
    continue where a pair is there again."""
    groups, rollouts = [], []
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for (prompt, problem), result in zip(pairs, samples, strict=True):
        first = seen[prompt.prompt_id, problem.problem_id]
        seen[prompt.prompt_id, problem.problem_id] += len(result)
        ours = [judge(prompt, problem, first + place, sample) for place, sample in enumerate(result)]
        failed = [sample.failure is not None for sample in result]
        rewards = tuple(None if lost else item.reward for item, lost in zip(ours, failed, strict=True))
        groups.append(Group(prompt.prompt_id, problem.problem_id, tuple(result), rewards))
        rollouts += [
            (replace(item, reward=reward), lost)
            for item, reward, lost in zip(ours, rewards, failed, strict=True)
        ]
    return groups, rollouts


def rating_rows(
    rated: Population,
    born: Sequence[Mapping[str, Any]],
    payoffs: PayoffMatrix,
    decided: Mapping[str, dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return rows of the table `ratings`. rated: after the match. born: rows of the iteration's children, as
    they were at birth. decided: prompt id -> further columns, what stepwise selection decided by."""
    means = payoffs.means
    ranks = ranks_of(means) if means is not None else []
    rows = []
    for place, prompt in enumerate(payoffs.prompts if means is not None else ()):
        mu, sigma = rated.rating(prompt.prompt_id)
        rows.append(
            {
                "prompt_id": prompt.prompt_id,
                "mu": mu,
                "sigma": sigma,
                "rank": ranks[place],
                "mean_reward": (means or [])[place],
                "source": "update",
                "place": place,
            }
            | decided.get(prompt.prompt_id, {})
        )
    return rows + [
        {name: row[name] for name in ("prompt_id", "mu", "sigma")} | {"source": "birth"} for row in born
    ]


def rollout_row(rollout: Rollout) -> dict[str, Any]:
    """Return a row of the table `rollouts`."""
    return {
        "prompt_id": rollout.prompt_id,
        "problem_id": rollout.problem_id,
        "number": rollout.number,
        "reply": rollout.reply,
        "tokens": rollout.tokens,
        "truncated": rollout.truncated,
        "correct": rollout.correct,
        "formatted": rollout.formatted,
        "reward": rollout.reward,
        "unverified": rollout.unverified,
        "calls": calls_json(rollout.calls),
    }


def update_row(
    policy: Policy,
    stats: UpdateStats | None,
    groups: Sequence[Group],
    rollouts: Sequence[tuple[Rollout, bool]],
) -> dict[str, Any]:
    """Return a row of the table `updates`. stats: None if no update was asked for."""
    every = [rollout for rollout, _ in rollouts]
    informative = sum(len({reward for reward in group.rewards if reward is not None}) > 1 for group in groups)
    row = {
        "policy": policy.name,
        "updated": stats is not None and stats.updated,
        "groups": len(groups),
        "informative": informative,
        "rollouts": len(every),
        "rejected": sum(item.reward is None for item in every),
        "failed": sum(failed for _, failed in rollouts),
        "truncated": sum(item.truncated for item in every),
        "formatted": sum(item.formatted for item in every),
        "correct": sum(item.correct for item in every),
        "tokens": sum(item.tokens for item in every),
        "mean_reward": _mean([worth(item) for item, failed in rollouts if not failed]),
    }
    if stats is None:
        return row
    return row | {
        "step": stats.step,
        "loss": stats.loss,
        "grad_norm": stats.grad_norm,
        "kl": stats.kl,
        "trained_tokens": stats.tokens,
        "informative": stats.informative,
    }


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
