"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

from typing import Any

from assets.pictures import shown
from evolake.lake import Lake


def of_cycle(lake: Lake, entering: str) -> dict[str, Any]:
    """Evolutionary tree, learning curves, ratings against held-out scores. `entering`: the cycle that the sealed population enters."""
    from evolake.prompts.report.figures import cycle_figures

    return {name: shown(png, name) for name, png in cycle_figures(lake, entering).items()}
