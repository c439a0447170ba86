"""Executed work by difficulty across families, and how often a policy is right at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.families.dataset.difficulty import GROUPS, curve
from evolake.report.figures import Figure
from evolake.stats.proportions import wilson_interval

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport


def draw_difficulty(report: FamiliesReport) -> bytes:
    """Return a line per group of families, seeds, drawn worlds and children; the replies of the policies of
    the prompts line where it asked families."""
    from evolake.families.plots import Curve, difficulty

    rows = curve(report.work).to_dicts()
    curves = [
        Curve(
            group,
            [
                (row["difficulty"], row["lower"], row["median"], row["upper"])
                for row in rows
                if row["group"] == group
            ],
        )
        for group in GROUPS
    ]
    passed = [
        (level, right / replies, *interval_of(right, replies))
        for level, replies, right in report.asked.rows()
    ]
    return difficulty(curves, passed, "Difficulty across families")


def interval_of(right: int, replies: int) -> tuple[float, float]:
    """Return the ends of the 95% interval of a share."""
    interval = wilson_interval(right, replies)
    return interval.low, interval.high


FIGURE = Figure("Work by level", draw_difficulty, place="difficulty", order=6)
