"""Differences between arms, at each matching."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmDelta, arm_deltas, colours_of_arms
from evolake.report.figures import Figure
from evolake.utility.findings import Findings
from evolake.utility.tables import ARMS, LINEAGES, MATCHINGS


def draw_differences(findings: Findings) -> bytes | None:
    """On held-out lineages. A difference has the colour of its first arm."""
    panels, colours, of_arms = {}, {}, colours_of_arms(list(ARMS))
    for matching in MATCHINGS:
        rows = findings.comparisons.filter(
            (pl.col("matching") == matching) & (pl.col("suite") == LINEAGES)
        ).to_dicts()
        colours |= {f"{row['first']} - {row['second']}": of_arms[row["first"]] for row in rows}
        panels[f"equal {matching}"] = [
            ArmDelta(f"{row['first']} - {row['second']}", row["difference"], row["low"], row["high"])
            for row in rows
        ]
    title = "Difference of the shares solved, held-out lineages, in points"
    return arm_deltas(panels, title, "points, with 95% intervals", colours) if any(panels.values()) else None


FIGURE = Figure("Differences between arms", draw_differences, order=4)
