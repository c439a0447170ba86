"""The policy that a study trains: the one of the section `prompts`, with what the study says of it instead of
its defaults."""

from __future__ import annotations

from typing import Any

from evolake.prompts.policies.dtypes import with_dtype
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings
from evolake.utility.settings import UtilitySettings

POLICY = (
    "policy",
    "policy_model",
    "lora_rank",
    "lora_alpha",
    "max_tokens",
    "temperature",
    "learning_rate",
    "betas",
    "kl",
    "rejects",
    "recipe",
    "scale_rewards",
    "loss_type",
    "rollouts",
    "answer_format",
    "format_bonus",
    "reply_start",
    "dtype",
    "sampler",
    "mini_batches",
    "kl_term",
    "eval_temperature",
    "eval_top_p",
    "eval_top_k",
)
"""Settings of the policy that the rows of a cell depend on."""


def policy_settings(settings: Settings) -> Settings:
    """Return the settings with those of the study in place of the policy's own: one policy, trained as the
    study says, without tools, of the dtype that it has here."""
    own = settings.of(UtilitySettings)
    names = (
        "rollouts",
        "recipe",
        "scale_rewards",
        "learning_rate",
        "kl",
        "temperature",
        "max_tokens",
        "answer_format",
        "reply_start",
    )
    given: dict[str, Any] = {name: getattr(own, name) for name in names} | {"tools": [], "corpus": None}
    return settings.with_section(with_dtype(settings.of(PromptsSettings).model_copy(update=given)))
