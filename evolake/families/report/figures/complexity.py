"""Distributions of measures of complexity, by operator, next to the paper's means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evolake.families.operators.registry import OPERATORS
from evolake.families.report import paper
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport

MEASURES = {
    "loc": ("lines of code", False),
    "cyclomatic": ("cyclomatic complexity", False),
    "cognitive": ("cognitive complexity", False),
    "halstead_effort": ("Halstead effort", True),
    "loops": ("loops", False),
    "loop_depth": ("depth of loops", False),
}
"""Column of COMPLEXITY -> its name, and whether its axis is logarithmic."""


def draw_complexity(report: FamiliesReport) -> bytes:
    """Return a panel per measure; boxes for the seeds and each operator, lines for the paper's seeds and its
    least and largest evolved mean."""
    from evolake.families.plots import Panel, distributions

    panels = []
    for column, (said, log) in MEASURES.items():
        groups = {
            f"{name} ({frame.height})": frame[column].cast(pl.Float64).to_list()
            for name in ("seed", *OPERATORS)
            if (frame := report.tables["measured"].filter(pl.col("operator") == name)).height
        }
        evolved = [values[column] for name, values in paper.COMPLEXITY.items() if name != "seed"]
        references = {
            "the paper's seeds": paper.COMPLEXITY["seed"][column],
            "its least evolved mean": min(evolved),
            "its largest evolved mean": max(evolved),
        }
        panels.append(Panel(said, groups, references if column != "halstead_effort" else {}, log))
    return distributions(panels, "Complexity of generator and primary validator")


FIGURE = Figure("Complexity", draw_complexity, place="complexity", order=4)
