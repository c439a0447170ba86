"""Prices: the cost of an element of each class relative to one simple operation of the fused engine.

They stand in `prices.toml`, with how they were measured: classes of a kernel's expressions by their name,
those of what torch runs as `mixed NAME` and `torch NAME`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path


def _read() -> dict[str, float]:
    tables = tomllib.loads(Path(__file__).with_name("prices.toml").read_text())
    return {
        name if table == "fused" else f"{table} {name}": float(price)
        for table, prices in tables.items()
        for name, price in prices.items()
    }


COSTS: Mapping[str, float] = _read()
