"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

from typing import Any

from assets.pictures import shown
from evolake.lake import Lake


def of_cycle(lake: Lake, cycle: str, population: Any) -> dict[str, Any]:
    """Cactus plot, PAR-2 by cycle, the champion against its parent or rival, genealogy."""
    from evolake.solvers.report.figures import cycle_figures

    return {name: shown(png, name) for name, png in cycle_figures(lake, cycle, population).items()}
