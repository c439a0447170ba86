"""Who descends from whom."""

from __future__ import annotations

from evolake.designs.report.material import Material
from evolake.report.figures import Figure


def draw_genealogy(material: Material) -> bytes:
    """Return every design, the champion's ancestry marked."""
    from evolake.plots import Ancestor, genealogy

    population = material.population
    nodes = [
        Ancestor(row["design_id"], row["cycle"], row["state"], row["title"])
        for row in population.designs.to_dicts()
    ]
    edges = [(parent, child, weight) for child, parent, weight in population.edges()]
    return genealogy(nodes, edges, population.champion_id)


FIGURE = Figure("Genealogy", draw_genealogy, order=2, asset="survivors")
