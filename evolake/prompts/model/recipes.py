"""Recipes of weight updates: two configurations of one trainer.

`espl` (E-SPL, section 3.1 and appendix A): advantage r - mean of the (prompt, problem) group, not divided by
its deviation; every sequence counts by its tokens over one constant length (dr_grpo), no KL term, Adam at
4e-5.

`sslogic` (SSLogic, appendix G and H.2): GRPO as usual, advantage divided by the group's deviation, mean over
the tokens of the batch, KL to the first policy with weight .001 by the k3 estimator without importance
weights, gradient clipped at 1, Adam at 2e-6, samples drawn at temperature .85. Failed trajectories are taken
out before the advantages are computed, and a group in which nothing succeeded is skipped. The paper's failed
trajectories are those with a wrong answer, and a reward model distinguishes what is left; if the reward is
the validator alone, only the KL term moves. So `rejects` is "unanswered" by default (no answer that can be
read), and "incorrect" is the paper's word.

Single values are settings (`EVOLAKE_PROMPTS__LOSS_TYPE=cispo` caps the weights of importance, at `CISPO_CAP`,
not the objective: MiniMax-M1, 2025). By default a policy takes one step on what it has just sampled, where
the ratio is 1 and cispo and dapo are the same. With `mini_batches` it takes that many, each on its part of
the groups; from the second on clipping acts. SSLogic takes two (2,048 trajectories in mini-batches of 1,024).

`kl_term`: `k3` is the mean of r - log r - 1 with r = first policy / policy, whose gradient is not that of the
KL divergence even where its value is. `weighted` is SSLogic's equation 4: the same times policy / policy that
sampled, whose gradient is the divergence's (appendix G.2; its appendix H.2 names verl's `low_var_kl`, which
is the plain one).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from evolake.prompts.settings import PromptsSettings

Rejects = Literal["unanswered", "incorrect"]
CISPO_CAP = 5.0
"""The largest weight of importance in the loss `cispo`; trl's `epsilon_high`, at what ScaleRL (2025)
recommends. The cap is it, not 1 + it."""
LAST_RATE = 0.1
"""Share of the learning rate that is left after a decay."""
CORRECT = 1.0
"""The reward of a correct answer: in a recipe that rejects, a group without one is skipped."""


@dataclass(frozen=True)
class Recipe:
    """One configuration of the trainer. loss_type, scale_rewards: trl's names in GRPOConfig. clip: largest
    gradient norm; None: never clipped. mini_batches: optimizer steps of one update, each on its part of the
    groups. warmup_steps, decay_steps, mask_truncated: as the settings."""

    name: str
    learning_rate: float
    betas: tuple[float, float]
    kl: float
    loss_type: str
    scale_rewards: str
    clip: float | None
    temperature: float
    rejects: Rejects | None
    mini_batches: int = 1
    kl_term: Literal["k3", "weighted"] = "k3"
    warmup_steps: int = 0
    decay_steps: int = 0
    mask_truncated: bool = False

    def rate_at(self, step: int) -> float:
        """Return the learning rate of an optimizer step, from 0."""
        grown = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        if not self.decay_steps:
            return self.learning_rate * grown
        passed = min(max(step - self.warmup_steps, 0) / self.decay_steps, 1.0)
        return (
            self.learning_rate * grown * (LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * passed)) / 2)
        )


ESPL = Recipe("espl", 4e-5, (0.9, 0.95), 0.0, "dr_grpo", "none", None, 1.0, None)
SSLOGIC = Recipe("sslogic", 2e-6, (0.9, 0.999), 0.001, "dapo", "group", 1.0, 0.85, "unanswered")
RECIPES = {recipe.name: recipe for recipe in (ESPL, SSLOGIC)}


def recipe_of(settings: PromptsSettings) -> Recipe:
    """Return the recipe that the settings name, with what they set themselves instead of its defaults."""
    names = (
        "learning_rate",
        "betas",
        "kl",
        "temperature",
        "rejects",
        "scale_rewards",
        "loss_type",
        "mini_batches",
        "kl_term",
        "warmup_steps",
        "decay_steps",
        "mask_truncated",
    )
    own = {name: getattr(settings, name) for name in names}
    return replace(
        RECIPES[settings.recipe], **{name: value for name, value in own.items() if value is not None}
    )
