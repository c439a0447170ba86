"""Work against size with fits, for every design."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evolake.designs.evolution.schedule import is_solved, latest_levels
from evolake.designs.report.material import Material, baseline_of
from evolake.designs.work.rows import median_work
from evolake.report.figures import Figure


def draw_scaling(material: Material) -> bytes:
    """Draw one curve per design that was run; the champion and the baseline are highlighted."""
    return draw_by(
        material,
        median_work,
        "work",
        "Median work to a solution by instance size",
        "median work (steps of the baseline)",
    )


def draw_by(
    material: Material, cost: Callable[[Mapping[str, Any]], float | None], short: str, title: str, axis: str
) -> bytes:
    """Return the curves of any cost of a level. cost: None where a level has none. short: what the fit calls
    it."""
    from evolake.designs.report.scaling_plots import Curve, scaling

    population = material.population
    rows = {row["design_id"]: row for row in population.designs.to_dicts()}
    by_design: dict[str, list[dict[str, Any]]] = {}
    for row in population.experiment_rows():
        by_design.setdefault(row["design_id"], []).append(row)
    labels = {design_id: f"{rows[design_id]['title']} ({design_id[:6]})" for design_id in rows}
    curves = []
    for design_id, result in sorted(by_design.items()):
        points = [
            (level["N"], value, is_solved(level))
            for level in latest_levels(result)
            if (value := cost(level)) is not None
        ]
        if points:
            n, values, solved = zip(*points, strict=True)
            curves.append(Curve(labels[design_id], n, values, solved))
    champion = population.champion_id
    baseline = baseline_of(population)
    return scaling(
        curves,
        labels.get(champion or ""),
        labels.get(baseline or "") if baseline != champion else None,
        short=short,
        title=title,
        axis=axis,
    )


FIGURE = Figure("Scaling", draw_scaling, order=1, asset="survivors")
