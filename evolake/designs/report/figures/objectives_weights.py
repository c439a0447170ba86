"""How much each objective weighs in the consensus."""

from __future__ import annotations

from evolake.designs.report.material import Material, voting_objectives
from evolake.report.figures import Figure


def draw_objectives_weights(material: Material) -> bytes:
    """Return a bar per objective, with the multiplier of its review."""
    from evolake.designs.report.objective_plots import objective_weights

    voting = voting_objectives(material)
    return objective_weights(voting.labels, voting.weights, voting.families, voting.multipliers)


FIGURE = Figure("Weights of objectives", draw_objectives_weights, order=4, asset="final_ranking")
