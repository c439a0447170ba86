"""Figures, each a function from plain data to PNG bytes. One look for all (see `style`); the same data gives
the same bytes."""

from evolake.plots.arms import (
    ArmCurve,
    ArmDelta,
    ArmPoint,
    ArmRate,
    arm_curves,
    arm_deltas,
    arm_frontier,
    arm_rates,
    arm_steps,
)
from evolake.plots.genealogy import Ancestor, genealogy

__all__ = [
    "Ancestor",
    "ArmCurve",
    "ArmDelta",
    "ArmPoint",
    "ArmRate",
    "arm_curves",
    "arm_deltas",
    "arm_frontier",
    "arm_rates",
    "arm_steps",
    "genealogy",
]
