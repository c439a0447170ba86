"""Shares of the categories among seeds and evolved families."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evolake.families.report import paper
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport


def draw_categories(report: FamiliesReport) -> bytes:
    """Draw families by category, in the paper's order."""
    from evolake.families.plots import shares

    groups = {
        "seeds here": [row for row in report.accepted if row["operator"] == "seed"],
        "evolved here": report.evolved,
    }
    result = {name: Counter(row["category"] for row in rows) for name, rows in groups.items()}
    counted = {
        name: {category: float(counts[category]) for category in paper.CATEGORIES}
        for name, counts in result.items()
    }
    theirs = {"the paper's seeds": {name: float(count) for name, count in paper.CATEGORIES.items()}}
    return shares(counted | theirs, "Categories of families")


FIGURE = Figure("Categories", draw_categories, place="complexity", order=3)
