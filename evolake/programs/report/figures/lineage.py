"""Who descends from whom in the first project: what lives, and all that the champion descends from."""

from __future__ import annotations

from evolake.plots.genealogy import Ancestor, ancestry, genealogy
from evolake.programs.report.material import Material
from evolake.report.figures import Figure

MOST = 150


def draw_lineage(material: Material) -> bytes | None:
    """Draw living programs and the champion's ancestors."""
    population = material.population
    if not (projects := population.projects()):
        return None
    champion = population.champion(projects[0])["program_id"]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in population.derivations.to_dicts()]
    family = ancestry(champion, edges)
    rows = population.rows(projects[0])
    shown = [
        row
        for row in rows
        if row["program_id"] in family
        or row["state"] in ("accepted", "champion")
        or row["operator"] == "initial"
    ][-MOST:]
    nodes = [
        Ancestor(row["program_id"], row["cycle"], row["state"], f"{row['operator']} {row['number']}")
        for row in shown
    ]
    return genealogy(nodes, edges, champion)


FIGURE = Figure("Lineage of the champion", draw_lineage, order=2)
