"""The champion's held-out score by cycle, with the spread that it was measured with."""

from __future__ import annotations

from evolake.plots.style import FAINT, PALETTE, SMALL, dress, figure, say, to_png
from evolake.programs.report.material import Material
from evolake.report.figures import Figure


def draw_score(material: Material) -> bytes:
    """Return a curve for each project with 95% bands, in multiples of its initial program's score where each
    project has one above 0."""
    drawn, axes = figure(height=4.2)
    if not material.cycles:
        say(axes, "No cycle is finished yet.")
        return to_png(drawn)
    measured = {
        name: [row for row in material.of_project(name) if row["holder_mean"] is not None]
        for name in material.population.projects()
    }
    relative = all((rows[0]["initial_mean"] or 0) > 0 for rows in measured.values() if rows)
    if relative:
        axes.axhline(1.0, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), label="initial program")
    for place, (project, rows) in enumerate(measured.items()):
        if not rows:
            continue
        unit = rows[0]["initial_mean"] if relative else 1.0
        x = [material.cycles.index(row["cycle"]) for row in rows]
        mean, low, high = (
            [row[name] / unit for row in rows] for name in ("holder_mean", "holder_low", "holder_high")
        )
        colour = PALETTE[place % len(PALETTE)]
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.errorbar(
            x,
            mean,
            yerr=[
                [m - item for m, item in zip(mean, low, strict=True)],
                [item - m for m, item in zip(mean, high, strict=True)],
            ],
            color=colour,
            marker="o",
            linewidth=1.6,
            capsize=3,
            label=project,
        )
    axes.set_xticks(range(len(material.cycles)), material.cycles, fontsize=SMALL)
    label = "held-out score / initial program's" if relative else "held-out score"
    dress(axes, "Held-out score of each project's champion, with 95% bands", "cycle", label, grid="y")
    axes.legend(fontsize=SMALL, frameon=False)
    return to_png(drawn)


FIGURE = Figure("Score of the champion by cycle", draw_score, order=1, asset="survivors")
