"""The votes on one instance: what each voter answered, and what more than half of them agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Vote:
    """The votes on one instance. label is None if no strict majority agrees; `for_label` names those who
    voted for it."""

    difficulty: int
    seed: int
    label: Any
    decided: bool
    for_label: tuple[str, ...]
    answers: dict[str, Any]
    statuses: dict[str, str]

    @property
    def primary_agrees(self) -> bool:
        """Return whether the primary validator votes for the label."""
        return "primary" in self.for_label
