"""The line's section of the report, with one figure."""

from __future__ import annotations

from pathlib import Path

from markupsafe import escape

from evolake.lake import Catalogue, Lake
from evolake.plots.style import BLUE, dress, figure, to_png
from evolake.report.pages import Section, render

BEST = (
    "SELECT cycle, min(length) AS shortest, count(*) AS rulers FROM golomb.survivors WHERE cycle <= "
    "$cycle GROUP BY cycle ORDER BY cycle"
)


def lengths(cycles: list[str], shortest: list[int]) -> bytes:
    """Length of the shortest ruler per cycle, as PNG."""
    drawn, axes = figure(height=3.2)
    axes.plot(range(len(cycles)), shortest, color=BLUE, marker="o")
    axes.set_xticks(range(len(cycles)), cycles)
    dress(axes, "The shortest ruler, cycle by cycle", "cycle", "length", grid="y")
    return to_png(drawn)


def golomb_section(root: Path, cycle: str) -> Section:
    """The shortest rulers up to a cycle."""
    with Catalogue(Lake(root)) as catalogue:
        best = catalogue.frame(BEST, {"cycle": cycle})
    figures = {"The shortest ruler": lengths(best["cycle"].to_list(), best["shortest"].to_list())}
    headline = escape(f"The shortest ruler is {best['shortest'].min()} long.")
    return Section(
        "golomb",
        cycle,
        headline,
        render("golomb", "section.html.j2", headline=headline, best=best, figures=figures),
        figures,
    )
