"""The policy of random weights, problems and groups for it: every step of training in a second, with the real
libraries."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Group, Problem, Sample
from evolake.prompts.model.recipes import ESPL, Recipe
from evolake.prompts.policies.local import LocalPolicy, Sizes
from evolake.prompts.policies.models import load_base

PROMPT = prompt_of(["Be brief."])
REWARDS = [
    (1.0, 0.0, 0.0, 1.0),
    (0.0, 0.0, 0.0, 1.0),
    (0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 1.1, 0.1),
    (1.0, 1.0, 1.0, 1.0),
]
"""Rewards of the four replies of each of five groups: three have an advantage."""


def tiny_policy(recipe: Recipe = ESPL, *, dtype: str = "float32", **options: Any) -> LocalPolicy:
    """A fresh policy; the same options give the same weights."""
    sizes = Sizes(
        lora_rank=4,
        lora_alpha=4,
        max_tokens=10,
        max_prompt_tokens=1000,
        rows_at_once=6,
        rows_per_pass=6,
        threads=1,
    )
    chosen = {name: options.pop(name) for name in vars(sizes) if name in options}
    return LocalPolicy(
        load_base("tiny", None, Path("unused"), dtype),
        recipe,
        replace(sizes, **chosen),
        **({"seed": 3} | options),
    )


def problems(count: int) -> list[Problem]:
    """Sums of different lengths."""
    return [
        Problem(
            f"problem-{n}", f"{n} + {10**n}?", str(n + 10**n), True, "sum", 1, "train", "test", f"problem-{n}"
        )
        for n in range(1, count + 1)
    ]


def groups_of(
    samples: Sequence[Sequence[Sample]],
    rewards: Sequence[Sequence[float | None]],
    prompt: SystemPrompt = PROMPT,
) -> list[Group]:
    """One group a problem."""
    return [
        Group(prompt.prompt_id, problem.problem_id, tuple(some), tuple(worth))
        for problem, some, worth in zip(problems(len(samples)), samples, rewards, strict=True)
    ]


def log_probabilities(policy: LocalPolicy, sample: Sample, temperature: float = 1.0) -> torch.Tensor:
    """Of each token of the reply, by the model alone: one row, no padding."""
    ids = torch.tensor([[*sample.prompt_ids, *sample.reply_ids]])
    logits = policy.model(input_ids=ids).logits[0, len(sample.prompt_ids) - 1 : -1] / temperature
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(sample.reply_ids)[:, None])[:, 0]


def own_tokens(sample: Sample) -> torch.Tensor:
    """1 at the sample's own tokens, 0 at those of a tool's result."""
    return torch.tensor(sample.reply_mask or [1] * len(sample.reply_ids))


def trained_once(policy: LocalPolicy) -> LocalPolicy:
    """One step away from an adapter of zeros, so that both halves of the adapter have a gradient."""
    with torch.no_grad():
        generator = torch.Generator().manual_seed(5)
        for name, parameter in policy.model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
    return policy


def cut(sample: Sample, tokens: int) -> Sample:
    """Its first tokens."""
    ids = sample.reply_ids[:tokens]
    return replace(sample, reply_ids=ids, tokens=len(ids))
