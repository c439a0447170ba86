"""Held-out problems solved over the steps."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmCurve, arm_curves, colours_of_arms
from evolake.report.figures import Figure
from evolake.utility.findings import Findings
from evolake.utility.tables import ARMS, LINEAGES, TRAINED


def draw_learning(findings: Findings) -> bytes | None:
    """On held-out lineages, with bands over problems and seeds."""
    result = findings.curves.filter((pl.col("measure") == "correct") & (pl.col("suite") == LINEAGES)).sort(
        "step"
    )
    curves = [
        ArmCurve(
            arm,
            part["step"].to_list(),
            part["value"].to_list(),
            part["low"].to_list(),
            part["high"].to_list(),
        )
        for arm in TRAINED
        if (part := result.filter(pl.col("arm") == arm)).height
    ]
    title = "Problems of held-out lineages solved, with 95% bands"
    return arm_curves(curves, title, "step", "share solved", colours_of_arms(list(ARMS))) if curves else None


FIGURE = Figure("Held-out lineages solved over the steps", draw_learning, order=2)
