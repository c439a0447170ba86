"""The dtype of a policy's base model, by torch's names. The adapter, its gradients and Adam's moments are
float32 with any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evolake.prompts.settings import PromptsSettings

FLOAT32, BFLOAT16 = "float32", "bfloat16"
NO_CARD = "there is no card that computes in bfloat16"


def card_has_bfloat16() -> bool:
    """Return whether torch sees a card that computes in bfloat16 by itself, without emulation."""
    import torch

    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def with_dtype(own: PromptsSettings) -> PromptsSettings:
    """Return the settings with the dtype that a run here has in the place of `auto`. What identifies a run is
    made of these: another dtype, other rows.
    """
    if own.policy == "endpoint" or own.dtype != "auto":
        return own
    return own.model_copy(update={"dtype": BFLOAT16 if card_has_bfloat16() else FLOAT32})


def describe_dtype(own: PromptsSettings) -> str:
    """Return what a run's dtype is and why, for people."""
    if own.dtype != "auto":
        return f"{own.dtype}, as EVOLAKE_PROMPTS__DTYPE says"
    result = with_dtype(own).dtype
    return f"{result} (auto): {NO_CARD if result == FLOAT32 else 'the card computes in it'}"
