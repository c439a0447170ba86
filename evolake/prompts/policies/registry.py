"""Which policy serves: settled by the settings, in one place.

    local      weights on this machine that learn: the bundled model, or a checkpoint of the user's
    tiny       the same with random weights of two layers, for trying the plumbing
    endpoint   an OpenAI-compatible endpoint: it answers and does not learn
"""

from __future__ import annotations

import os
from pathlib import Path

from evolake.prompts.model.protocol import LINE, Policy
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.policies.dtypes import with_dtype
from evolake.prompts.policies.models import load_base, missing_extra, missing_model
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tools.toolbox import check_tools, open_toolbox
from evolake.seeds import child_seed
from evolake.settings import Settings


def open_policy(settings: Settings, lake_root: Path, cycle: str, run_id: str) -> Policy:
    """The policy that the settings name, before any update. The adapter's first weights come from `settings.seed` alone, in every cycle the same.

    Args:
        lake_root: holds the tape and the budget's accounts of an endpoint; see `model_cache` for the unpacked bundled model.

    Raises:
        MachineryError: the extra `policy` is missing and needed; says what to install.
        InputError: the endpoint's settings are not enough, the checkpoint that they name is not there, or the policy cannot have their tools.
        JailUnavailable: `python` is among the tools, and no jail holds here.
    """
    own = settings.of(PromptsSettings)
    check_tools(own)
    if own.policy == "endpoint":
        from evolake.prompts.policies.endpoint import open_endpoint

        return open_endpoint(settings, lake_root, cycle, run_id)
    base = load_base(own.policy, own.policy_model, model_cache(lake_root), with_dtype(own).dtype)
    from evolake.prompts.policies.local import LocalPolicy

    return LocalPolicy(
        base, recipe_of(own), lora_rank=own.lora_rank, lora_alpha=own.lora_alpha, max_tokens=own.max_tokens,
        max_prompt_tokens=own.max_prompt_tokens, rows_at_once=own.rows_at_once, rows_per_pass=own.rows_per_pass, threads=own.threads,
        seed=child_seed(settings.seed, LINE, "0000", "adapter"), reply_start=own.reply_start, tools=open_toolbox(settings),
    )


def model_cache(lake_root: Path) -> Path:
    """Where the bundled model is unpacked, once for all lakes of a user: below XDG_CACHE_HOME, else ~/.cache. Where nothing can be written there, in
    the lake's work folder, which is no part of its content."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "evolake" / "models"
    nearest = next(folder for folder in place.parents if folder.exists()) if place.is_absolute() else None
    return place if nearest is not None and os.access(nearest, os.W_OK | os.X_OK) else lake_root / "work" / LINE / "models"


def missing(settings: Settings) -> str | None:
    """What stands in the way of the policy that the settings name, as one line; None where nothing does. Imports no model library.

    Raises:
        InputError: the settings ask for tools that the policy cannot have.
    """
    check_tools(settings.of(PromptsSettings))
    if settings.of(PromptsSettings).policy != "endpoint":
        return missing_extra() or missing_model(settings.of(PromptsSettings).policy, settings.of(PromptsSettings).policy_model)
    return None
