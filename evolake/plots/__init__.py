"""Figures, each a function from plain data to PNG bytes. One look for all (see `style`); the same data gives the same bytes."""

from evolake.plots.genealogy import Ancestor, genealogy
from evolake.plots.objectives import objective_pca, objective_weights, tau_matrix
from evolake.plots.scaling import Curve, scaling
from evolake.plots.trajectory import CycleValues, consensus_trajectory

__all__ = [
    "Ancestor",
    "Curve",
    "CycleValues",
    "consensus_trajectory",
    "genealogy",
    "objective_pca",
    "objective_weights",
    "scaling",
    "tau_matrix",
]
