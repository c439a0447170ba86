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
from evolake.plots.families import FaultKills, kill_rates
from evolake.plots.genealogy import Ancestor, genealogy
from evolake.plots.objectives import (
    CycleValues,
    consensus_trajectory,
    objective_pca,
    objective_weights,
    tau_matrix,
)
from evolake.plots.scaling import Curve, scaling

__all__ = [
    "Ancestor",
    "ArmCurve",
    "ArmDelta",
    "ArmPoint",
    "ArmRate",
    "Curve",
    "CycleValues",
    "FaultKills",
    "arm_curves",
    "arm_deltas",
    "arm_frontier",
    "arm_rates",
    "arm_steps",
    "consensus_trajectory",
    "genealogy",
    "kill_rates",
    "objective_pca",
    "objective_weights",
    "scaling",
    "tau_matrix",
]
