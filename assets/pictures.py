"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

import base64
from typing import Any

import dagster as dg

from assets.shown import markdown


def shown(png: bytes, title: str) -> dg.MetadataValue:
    """Return a figure as metadata."""
    return markdown(f"![{title}](data:image/png;base64,{base64.b64encode(png).decode()})")


def figures_of(package: str, material: Any, asset: str) -> dict[str, dg.MetadataValue]:
    """Return the figures of a line that belong to an asset, as its metadata. package: the line's figures.
    material: what they are drawn from."""
    from evolake.report.figures import draw_figures

    return {title: shown(png, title) for title, png in draw_figures(package, material, asset).items()}
