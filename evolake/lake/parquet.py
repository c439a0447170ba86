"""Frames as Parquet bytes: no time and no name of a run is in them, so the same frame gives the same
bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping

import polars as pl

_ROW_GROUP = 1 << 17


def encode(frame: pl.DataFrame, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the frame as Parquet bytes, the same for the same frame however it is chunked. metadata: of the
    file."""
    buffer, given = io.BytesIO(), None if metadata is None else dict(metadata)
    frame.rechunk().write_parquet(
        buffer,
        compression="zstd",
        compression_level=3,
        statistics=True,
        row_group_size=_ROW_GROUP,
        metadata=given,
    )
    return buffer.getvalue()
