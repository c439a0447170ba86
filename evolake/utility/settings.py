"""Sizes of the `utility` study."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from evolake.settings import LineSettings


class UtilitySettings(LineSettings):
    """How much the study does. Defaults are SSLogic's, appendices G and H; the policy itself is the one of the section `prompts`."""  # noqa: E501

    seeds: int = Field(default=3, gt=0, description="seeds each arm is run with, counted from 0")
    steps: int = Field(default=240, gt=0, description="updates of the weights of an arm")
    every: int = Field(
        default=40, gt=0, description="steps between evaluations; the last step is always evaluated"
    )
    batch_problems: int = Field(default=128, gt=0, description="problems a step")
    rollouts: int = Field(default=16, ge=2, description="n: replies per problem of a step")
    recipe: Literal["espl", "sslogic"] = Field(
        default="sslogic", description="how the weights are updated; see evolake.prompts.model.recipes"
    )
    scale_rewards: Literal["none", "group"] = Field(
        default="none", description="group: advantages over the deviation of their group"
    )
    learning_rate: float | None = Field(default=None, gt=0, description="None: the recipe's own")
    kl: float | None = Field(
        default=None, ge=0, description="weight of the KL term (k3); None: the recipe's own"
    )
    temperature: float | None = Field(
        default=None, gt=0, description="of sampling while training; None: the recipe's own"
    )
    max_tokens: int = Field(default=16384, gt=0, description="longest reply, in tokens")
    answer_format: Literal["boxed", "last"] = Field(
        default="boxed", description="last: without a box, what a reply ends with is its answer"
    )

    reply_start: str = Field(
        default="",
        description="what the model reads as the start of its reply, so that it continues from there",
    )

    instances_per_arm: int = Field(
        default=8192, gt=0, description="training problems of an arm, shared out over its families"
    )
    test_share: float = Field(
        default=0.25,
        gt=0,
        lt=1,
        description="share of lineages and engines that are held out, as in `families export`",
    )
    test_problems: int = Field(default=400, gt=0, description="problems of held-out lineages an evaluation")
    band_weights: tuple[int, int, int] = Field(
        default=(1, 3, 5), description="problems of difficulties 1-3, 4-6 and 7-10, in this ratio"
    )
    longest_statement: int = Field(
        default=30000,
        gt=0,
        description="a question of more characters is left out, in training and in evaluation",
    )
    pass_rates: tuple[float, float] | None = Field(
        default=None,
        description=(
            "keep only families and difficulties that the model as it is answers right between these "
            "shares; None: all"
        ),
    )
    pass_rate_instances: int = Field(
        default=8,
        gt=0,
        description="instances of each family and difficulty to measure it on, used for nothing else",
    )
    pass_rate_samples: int = Field(default=4, gt=0, description="replies to each of these")
    languages: list[str] | None = Field(default=None, description='of the families, e.g. ["en"]; None: all')
    benchmarks: list[str] = Field(
        default=[],
        description="further files to evaluate on: .jsonl with question, answer and perhaps scorer",
    )
    benchmark_problems: int = Field(
        default=400, gt=0, description="problems of each of these files, the first ones"
    )
    eval_samples: int = Field(
        default=1, gt=0, description="replies per problem of an evaluation; 1: greedy, more: sampled"
    )

    @field_validator("pass_rates")
    @classmethod
    def _two_shares(cls, given: tuple[float, float] | None) -> tuple[float, float] | None:
        if given is not None and not 0 <= given[0] <= given[1] <= 1:
            raise ValueError(f"wanted two shares between 0 and 1, the lower one first, got {list(given)}")
        return given
