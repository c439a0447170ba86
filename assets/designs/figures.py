"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from evolake.objectives.tables import LongConsensus


def shown(png: bytes, title: str) -> dg.MetadataValue:
    """A figure as metadata."""
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{base64.b64encode(png).decode()})")


def of_consensus(ranked: LongConsensus, population: Any) -> dict[str, Any]:
    """Tau matrix, weights, and the objectives in two dimensions."""
    from evolake.report.figures import consensus_figures

    return {name: shown(png, name) for name, png in consensus_figures(ranked, population).items()}


def of_designs(population: Any) -> dict[str, Any]:
    """Scaling of the designs with fits, and their genealogy."""
    from evolake.report.figures import design_figures

    return {name: shown(png, name) for name, png in design_figures(population).items()}
