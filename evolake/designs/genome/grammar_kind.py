"""What a term of the grammar is made of. `grammar` explains the slots and lists the kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Slot = Literal["mix", "v", "xs", "release", "xl"]
ParameterType = Literal["uniform", "log_uniform", "int"]


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter: its type on the contract's scale, default and closed bounds."""

    name: str
    type: ParameterType
    default: float
    low: float
    high: float


@dataclass(frozen=True)
class StateVariable:
    """An extra dynamical variable. `shape` is the contract's last axis ("N" or "M"); it starts at zero."""

    name: str
    axis: Literal["N", "M"]
    low: float
    high: float


@dataclass(frozen=True)
class Kind:
    """A kind of term. `lines` are statements of `_grad_single`; a release gate must bind `factor`, a state variable `d_<variable>`."""

    name: str
    slot: Slot
    why: str
    parameters: tuple[Parameter, ...]
    lines: tuple[str, ...]
    factor: str | None = None
    requires: tuple[str, ...] = ()
    variable: StateVariable | None = None
