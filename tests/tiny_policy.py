"""The policy of random weights, problems and groups for it: every step of training in a second, with the real libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Group, Problem, Sample
from evolake.prompts.model.recipes import ESPL, Recipe
from evolake.prompts.policies.local import LocalPolicy, Sizes
from evolake.prompts.policies.models import load_base

PROMPT = prompt_of(["Be brief."])


def tiny_policy(recipe: Recipe = ESPL, *, dtype: str = "float32", **options: Any) -> LocalPolicy:
    """A fresh policy; the same options give the same weights."""
    sizes = Sizes(lora_rank=4, lora_alpha=4, max_tokens=10, max_prompt_tokens=1000, rows_at_once=6, rows_per_pass=6, threads=1)
    chosen = {name: options.pop(name) for name in vars(sizes) if name in options}
    return LocalPolicy(load_base("tiny", None, Path("unused"), dtype), recipe, replace(sizes, **chosen), **({"seed": 3} | options))


def problems(count: int) -> list[Problem]:
    """Sums of different lengths."""
    return [
        Problem(f"problem-{n}", f"{n} + {10 ** n}?", str(n + 10**n), True, "sum", 1, "train", "test", f"problem-{n}") for n in range(1, count + 1)
    ]


def groups_of(
    samples: Sequence[Sequence[Sample]], rewards: Sequence[Sequence[float | None]], prompt: SystemPrompt = PROMPT
) -> list[Group]:
    """One group a problem."""
    return [
        Group(prompt.prompt_id, problem.problem_id, tuple(some), tuple(worth))
        for problem, some, worth in zip(problems(len(samples)), samples, rewards, strict=True)
    ]
