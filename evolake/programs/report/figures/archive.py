"""What each project has tried: score against size of every program that passed its gates, those that live in
colour."""

from __future__ import annotations

from evolake.plots.style import FAINT, PALETTE, SMALL, dress, figure, say, to_png
from evolake.programs.report.material import Material
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


FIGURE = Figure("Scores and sizes", draw_archive, order=3)
