"""The Pareto front of one project: its first two declared metrics; if none declares two, the first two
metrics that differ between programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.plots.style import FAINT, PALETTE, RED, SMALL, dress, figure, say, to_png
from evolake.programs.report.material import Material
from evolake.report.figures import Figure


def draw_front(material: Material) -> bytes:
    """Draw dots; without a project with two metrics it says so."""
    drawn, axes = figure(height=4.2)
    for project in sorted(
        material.population.projects(), key=lambda name: len(material.metrics.get(name, ())) < 2
    ):
        rows = [row for row in material.population.rows(project) if row["score"] is not None]
        measured = [(row, json.loads(row["metrics"])) for row in rows]
        ways = material.metrics.get(project, {})
        found = differing([metrics for _, metrics in measured])
        names = [*(name for name in ways if name in found), *(name for name in found if name not in ways)][:2]
        if len(names) < 2:
            continue
        measured = [(row, metrics) for row, metrics in measured if all(name in metrics for name in names)]
        for front, colour, label in (
            (False, FAINT, "passed its gates"),
            (True, PALETTE[0], "on the front, living"),
        ):
            dots = [
                [metrics[name] for name in names] for row, metrics in measured if bool(row["front"]) is front
            ]
            axes.scatter(
                [dot[0] for dot in dots],
                [dot[1] for dot in dots],
                s=26 if front else 12,
                color=colour,
                label=label,
                linewidths=0,
            )
        if chosen := [metrics for row, metrics in measured if row["state"] == "champion"]:
            axes.scatter(
                *([metrics[name]] for metrics in chosen[:1] for name in names),
                s=110,
                facecolors="none",
                edgecolors=RED,
                label="champion",
            )
        directions = {"max": " (higher is better)", "min": " (lower is better)"}
        labels = [f"{name}{directions.get(ways.get(name, ''), '')}" for name in names]
        dress(
            axes,
            f"{project}: two of its metrics; in blue what no living program beats in all that are declared",
            *labels,
        )
        axes.legend(fontsize=SMALL, frameon=False)
        return to_png(drawn)
    say(axes, "No project measures two things that differ between programs.")
    return to_png(drawn)


def differing(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return metrics that all of these have and that are not the same for all, by name."""
    shared = set.intersection(*(set(metric) for metric in metrics)) if metrics else set[str]()
    return sorted(name for name in shared if len({metric[name] for metric in metrics}) > 1)


FIGURE = Figure("One metric against another", draw_front, order=4)
