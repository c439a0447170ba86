"""Figures for the UI: PNGs as markdown images in the metadata of the asset that they describe."""

from __future__ import annotations

import base64

import dagster as dg


def shown(png: bytes, title: str) -> dg.MetadataValue:
    """A figure as metadata."""
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{base64.b64encode(png).decode()})")
