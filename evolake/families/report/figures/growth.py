"""Families and instances after each cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evolake.families.report import paper
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport


def draw_growth(report: FamiliesReport) -> bytes:
    """Return how many families, seeds among them, and how many instances there are after each cycle."""
    from evolake.families.plots import growth

    made = report.tables["made"]
    seeds = len(report.accepted) - len(report.evolved) - made["entered"].sum()
    made = made.with_columns(
        families=(pl.col("accepted") + pl.col("entered")).cum_sum() + seeds,
        total=pl.col("instances").cum_sum(),
    )
    reached = {"the paper, two rounds": (paper.FAMILIES[1], paper.INSTANCES[1])}
    return growth(made["cycle"].to_list(), made["families"].to_list(), made["total"].to_list(), reached)


FIGURE = Figure("Growth", draw_growth, place="growth", order=2)
