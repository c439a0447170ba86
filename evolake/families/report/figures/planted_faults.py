"""Planted faults, and the gates that catch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport


def draw_planted_faults(report: FamiliesReport) -> bytes | None:
    """Nothing if no fault was planted."""
    from evolake.families.tables_faults import figure_of

    return figure_of(report.kills) if report.kills.height else None


FIGURE = Figure("Planted faults", draw_planted_faults, place="faults", order=5)
