"""Rows by what they belong to, arms always in the order of the study."""

from __future__ import annotations

from typing import Any

import polars as pl

from evolake.repair.names import KNOWN_ARMS
from evolake.repair.tables import VARIATIONS


def groups(frame: pl.DataFrame, *names: str) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Return (values of `names`, their rows), sorted; arms in the order of KNOWN_ARMS, variations in that of
    VARIATIONS."""
    order = {"arm": KNOWN_ARMS.index, "variation": VARIATIONS.index}
    result = frame.group_by(*names, maintain_order=True)
    return sorted(
        result,
        key=lambda item: [
            order.get(name, lambda value: value)(value) for name, value in zip(names, item[0], strict=True)
        ],
    )
