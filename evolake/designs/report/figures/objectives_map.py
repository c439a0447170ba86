"""The objectives in two dimensions, by how they rank the designs."""

from __future__ import annotations

from evolake.designs.report.material import Material, voting_objectives
from evolake.report.figures import Figure


def draw_objectives_map(material: Material) -> bytes:
    """Return a dot per objective, as large as its weight."""
    from evolake.designs.report.objective_plots import objective_pca

    voting = voting_objectives(material)
    return objective_pca(voting.ranks, voting.labels, voting.weights, voting.families)


FIGURE = Figure("Map of objectives", draw_objectives_map, order=5, asset="final_ranking")
