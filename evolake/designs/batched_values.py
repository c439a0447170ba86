"""The values of the torch engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evolake.designs.operators import Setting

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Batched:
    """A tensor of shape (B, ...): one value an instance. `rank` counts the axes of a single instance."""

    tensor: torch.Tensor

    @property
    def rank(self) -> int:
        return self.tensor.ndim - 1


@dataclass(frozen=True)
class Context:
    """Batch size and evaluation setting of a stepper."""

    batch: int
    setting: Setting

    def setting_with(self, generator: Any) -> Setting:
        return replace(self.setting, generator=generator)
