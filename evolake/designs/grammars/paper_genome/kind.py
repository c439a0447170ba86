"""What a term of the grammar is made of. `genome` explains the slots and lists the kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evolake.designs.genome.parameters import Parameter

Slot = Literal["mix", "v", "xs", "release", "xl"]


@dataclass(frozen=True)
class StateVariable:
    """An extra dynamical variable. `shape` is the contract's last axis ("N" or "M"); it starts at zero."""

    name: str
    axis: Literal["N", "M"]
    low: float
    high: float


@dataclass(frozen=True)
class Kind:
    """A kind of term. `lines` are statements of `_grad_single`; a release gate must bind `factor`, a state
    variable `d_<variable>`."""

    name: str
    slot: Slot
    why: str
    parameters: tuple[Parameter, ...]
    lines: tuple[str, ...]
    factor: str | None = None
    requires: tuple[str, ...] = ()
    variable: StateVariable | None = None
