"""Hyperparameters of designs, and those of the baseline dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ParameterType = Literal["uniform", "log_uniform", "int"]


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter: its type on the contract's scale, default and closed bounds."""

    name: str
    type: ParameterType
    default: float
    low: float
    high: float


BACKBONE: tuple[Parameter, ...] = (
    Parameter("alpha", "log_uniform", 5.0, 0.5, 50.0),
    Parameter("beta", "log_uniform", 20.0, 2.0, 300.0),
    Parameter("gamma", "uniform", 0.25, 0.02, 0.5),
    Parameter("delta", "uniform", 0.05, 0.005, 0.3),
    Parameter("epsilon", "log_uniform", 1e-3, 1e-4, 5e-2),
    Parameter("zeta", "log_uniform", 1e-3, 1e-4, 1.0),
    Parameter("lr", "log_uniform", 1.0, 0.1, 6.0),
)


def clip(parameter: Parameter, value: float) -> float:
    """Return `value` inside the parameter's bounds; whole for an int."""
    bounded = min(max(value, parameter.low), parameter.high)
    return float(round(bounded)) if parameter.type == "int" else float(bounded)
