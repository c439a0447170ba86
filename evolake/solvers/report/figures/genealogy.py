"""Who descends from whom."""

from __future__ import annotations

from evolake.report.figures import Figure
from evolake.solvers.report.material import Material


def draw_genealogy(material: Material) -> bytes:
    """Return every variant, the champion's ancestry marked."""
    from evolake.plots import Ancestor, genealogy

    people = [
        Ancestor(row["variant_id"], row["cycle"], row["state"], row["title"])
        for row in material.population.rows()
    ]
    edges = [
        (row["parent_id"], row["child_id"], row["weight"])
        for row in material.population.derivations.to_dicts()
    ]
    return genealogy(people, edges, material.champion["variant_id"])


FIGURE = Figure("Genealogy", draw_genealogy, order=4, asset="survivors")
