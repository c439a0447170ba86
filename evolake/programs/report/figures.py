"""The figures of the programs line, from its archive (`material.Material`) to PNG bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.plots.genealogy import Ancestor, ancestry, genealogy
from evolake.plots.style import FAINT, PALETTE, RED, SMALL, dress, figure, say, to_png
from evolake.programs.report.material import Material, on_same_seeds
from evolake.report.figures import Figure


def draw_archive(material: Material) -> bytes:
    """Draw dots; scores relative to those of the projects' initial programs where each of these is above
    0."""
    drawn, axes = figure(height=4.2)
    rows = [row for row in material.population.rows() if row["score"] is not None]
    if not rows:
        say(axes, "No program has been measured yet.")
        return to_png(drawn)
    began = {row["project"]: row["score"] for row in rows if row["operator"] == "initial"}
    projects = material.population.projects()
    relative = all(began.get(project, 0) > 0 for project in projects)
    for place, project in enumerate(projects):
        own = [row for row in rows if row["project"] == project]
        unit, colour = began[project] if relative else 1.0, PALETTE[place % len(PALETTE)]
        for lives, shade, size in ((False, FAINT, 12), (True, colour, 26)):
            chosen = [row for row in own if (row["state"] in ("accepted", "champion")) is lives]
            label = project if lives else None
            axes.scatter(
                [row["size"] for row in chosen],
                [row["score"] / unit for row in chosen],
                s=size,
                color=shade,
                label=label,
                linewidths=0,
            )
    label = "score in the search / initial program's" if relative else "score in the search"
    dress(
        axes,
        "Every program that passed its gates; those that live in colour",
        "characters of its blocks",
        label,
    )
    axes.legend(fontsize=SMALL, frameon=False)
    return to_png(drawn)


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


def draw_score(material: Material) -> bytes:
    """Draw a curve for each project, on the seeds of the newest cycle (`material.on_same_seeds`), with the
    95% interval of each gain over the champion before; in multiples of the initial program's score where each
    project has one above 0."""
    drawn, axes = figure(height=4.2)
    if not material.cycles:
        say(axes, "No cycle is finished yet.")
        return to_png(drawn)
    curves = {name: _curve(material, name) for name in material.population.projects()}
    initial = {
        name: next((row["initial_mean"] for row in reversed(material.of_project(name))), None) or 0.0
        for name in curves
    }
    relative = all(initial[name] > 0 for name, curve in curves.items() if curve)
    if relative:
        axes.axhline(1.0, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), label="initial program")
    for place, (project, curve) in enumerate(curves.items()):
        if not curve:
            continue
        unit, colour = initial[project] if relative else 1.0, PALETTE[place % len(PALETTE)]
        x, score, below, above = zip(*curve, strict=True)
        bars = [[abs(item) / unit for item in below], [abs(item) / unit for item in above]]
        values = [item / unit for item in score]
        axes.errorbar(x, values, yerr=bars, color=colour, marker="o", linewidth=1.6, capsize=3, label=project)
    axes.set_xticks(range(len(material.cycles)), material.cycles, fontsize=SMALL)
    label = "held-out score / initial program's" if relative else "held-out score"
    title = (
        "Held-out score of each project's champion, on the seeds of the newest cycle\n"
        "(bars: 95% interval of its gain over the champion before)"
    )
    dress(axes, title, "cycle", label, grid="y")
    axes.legend(fontsize=SMALL, frameon=False)
    return to_png(drawn)


def _curve(material: Material, project: str) -> list[tuple[int, float, float, float]]:
    """Return (place of the cycle, score, how far the interval of a gain reaches below and above it); both are
    0 where the champion stayed."""
    rows = material.of_project(project)
    higher = next(iter(material.metrics.get(project, {}).values()), "max") == "max"
    curve: list[tuple[int, float, float, float]] = []
    for row, score in zip(rows, on_same_seeds(rows, higher_is_better=higher), strict=True):
        ends = [
            0.0 if not row["wins"] or None in (row[end], row["difference"]) else row[end] - row["difference"]
            for end in ("low", "high")
        ]
        below, above = ends if higher else ends[::-1]
        if score is not None:
            curve.append((material.cycles.index(row["cycle"]), score, below, above))
    return curve


FIGURES = (
    Figure("Score of the champion by cycle", draw_score, order=1, asset="survivors"),
    Figure("Lineage of the champion", draw_lineage, order=2),
    Figure("Scores and sizes", draw_archive, order=3),
    Figure("One metric against another", draw_front, order=4),
)
