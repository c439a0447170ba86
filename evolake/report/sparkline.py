"""A trend in the space of a word: as the points of an SVG polyline, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"


def heights(values: Sequence[float]) -> list[float]:
    """Return values scaled to 0..1; a constant is in the middle."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def polyline(
    values: Sequence[float], width: int = 120, height: int = 28, margin: int = 3
) -> list[tuple[float, float]]:
    """Return (x, y) of each value in a box of that size, oldest at the left, larger values higher."""
    step = (width - 2 * margin) / max(len(values) - 1, 1)
    return [
        (round(margin + place * step, 1), round(height - margin - up * (height - 2 * margin), 1))
        for place, up in enumerate(heights(values) if values else [])
    ]


def blocks(values: Sequence[float], longest: int = 40) -> str:
    """Return the newest values as a row of block characters."""
    shown = list(values)[-longest:]
    return (
        "".join(BLOCKS[min(int(up * len(BLOCKS)), len(BLOCKS) - 1)] for up in heights(shown)) if shown else ""
    )
