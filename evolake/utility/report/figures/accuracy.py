"""Held-out problems solved by arm, at equal steps."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmRate, arm_rates, colours_of_arms
from evolake.report.figures import Figure
from evolake.utility.findings import Findings
from evolake.utility.tables import ARMS, LINEAGES


def draw_accuracy(findings: Findings) -> bytes | None:
    """On held-out lineages."""
    rows = findings.summary.filter((pl.col("matching") == "steps") & (pl.col("suite") == LINEAGES)).to_dicts()
    rates = [ArmRate(row["arm"], row["correct"], row["low"], row["high"], {}) for row in rows]
    title = "Problems of held-out lineages solved, equal steps"
    return arm_rates(rates, title, "share of problems solved", colours_of_arms(list(ARMS))) if rates else None


FIGURE = Figure("Held-out lineages solved by arm", draw_accuracy, order=1)
