"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assets.pictures import shown

if TYPE_CHECKING:
    from evolake.objectives.tables import LongConsensus


def of_consensus(ranked: LongConsensus, population: Any) -> dict[str, Any]:
    """Tau matrix, weights, and the objectives in two dimensions."""
    from evolake.designs.report.figures import consensus_figures

    return {name: shown(png, name) for name, png in consensus_figures(ranked, population).items()}


def of_designs(population: Any) -> dict[str, Any]:
    """Scaling of the designs with fits, and their genealogy."""
    from evolake.designs.report.figures import design_figures

    return {name: shown(png, name) for name, png in design_figures(population).items()}
