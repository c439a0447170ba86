"""Steps against size with fits, for every design."""

from __future__ import annotations

from evolake.designs.evolution.schedule import is_solved, latest_levels
from evolake.designs.report.material import Material, baseline_of
from evolake.report.figures import Figure


def draw(material: Material) -> bytes:
    """One curve per design that was run; the champion and the baseline stand out."""
    from evolake.plots import Curve, scaling

    population = material.population
    rows = {row["design_id"]: row for row in population.designs.to_dicts()}
    by_design: dict[str, list[dict]] = {}
    for row in population.experiment_rows():
        by_design.setdefault(row["design_id"], []).append(row)
    labels = {design_id: f"{rows[design_id]['title']} ({design_id[:6]})" for design_id in rows}
    curves = []
    for design_id, result in sorted(by_design.items()):
        levels = latest_levels(result)
        curves.append(Curve(
            labels[design_id], [level["N"] for level in levels], [level["median_step"] for level in levels], [is_solved(level) for level in levels]
        ))
    champion = population.champion_id
    baseline = baseline_of(population)
    return scaling(curves, labels.get(champion or ""), labels.get(baseline or "") if baseline != champion else None)


FIGURE = Figure("Scaling", draw, order=1, asset="survivors")
