"""Kendall's tau of every two objectives that vote."""

from __future__ import annotations

from evolake.designs.report.material import Material, voting_objectives
from evolake.report.figures import Figure


def draw_objectives_agreement(material: Material) -> bytes:
    """Return a matrix, objectives by round of creation."""
    from evolake.designs.report.objective_plots import tau_matrix

    voting = voting_objectives(material)
    return tau_matrix(voting.tau, voting.labels)


FIGURE = Figure("Agreement of objectives", draw_objectives_agreement, order=3, asset="final_ranking")
