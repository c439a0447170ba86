"""Who descends from whom, by iteration."""

from __future__ import annotations

from evolake.plots.genealogy import Ancestor, genealogy
from evolake.prompts.report.material import Material
from evolake.report.figures import Figure


def draw_evolutionary_tree(material: Material) -> bytes:
    """Return every prompt, the champion's ancestry marked."""
    population, states = (
        material.population,
        {"blocked": "blocked", "champion": "champion", "retired": "retired"},
    )
    nodes = [
        Ancestor(
            row["prompt_id"],
            f"{row['iteration']:04d}",
            states.get(row["state"], "accepted"),
            f"{row['operator']} {row['number']}",
        )
        for row in population.rows()
    ]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in population.derivations.to_dicts()]
    return genealogy(nodes, edges, population.champion_id, column="iteration")


FIGURE = Figure("Evolutionary tree", draw_evolutionary_tree, order=1, asset="survivors")
