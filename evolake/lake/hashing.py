"""Content hashes: what a table says, apart from how it is stored.

Two frames have one hash when they have the same columns (names and types, in any order) and the same rows in
the same order. Chunking, compression, dictionary coding and the bytes under nulls do not count, so neither a
new polars nor another writer changes a DataVersion. A column is fed to sha256 as: type, length, which rows
are null, then the values that are not, in little-endian Arrow layout (strings as lengths and UTF-8 bytes;
lists as lengths and the hash input of their elements; structs field by field).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from evolake.errors import InputError

_BLOCK = 1 << 20


def content_hash(frame: pl.DataFrame, ignore: tuple[str, ...] = ()) -> str:
    """Return sha256 hex of the frame's content; see the module's text for what counts.

    Args:
        frame: any polars frame without Object columns.
        ignore: columns that are not content (a schema's `provenance`).
    """
    digest = hashlib.sha256(b"evolake table 1\n")
    names = sorted(set(frame.columns) - set(ignore))
    digest.update(f"{frame.height} {len(names)}\n".encode())
    for name in names:
        digest.update(f"{len(name.encode())} {name}\n".encode())
        _feed(digest, frame.get_column(name), name)
    return digest.hexdigest()


def _feed(digest: Any, column: pl.Series, name: str) -> None:
    kind = column.dtype
    digest.update(f"{kind!r} {len(column)} {column.null_count()}\n".encode())
    if kind == pl.Null:
        return
    if column.null_count():
        digest.update(np.packbits(column.is_null().to_numpy()).tobytes())
    values = (column.drop_nulls() if column.null_count() else column).rechunk()
    if isinstance(kind, pl.Struct):
        for field in kind.fields:
            digest.update(f"{field.name}\n".encode())
            _feed(digest, values.struct.field(field.name), name)
    elif isinstance(kind, pl.Array):
        values = values.cast(pl.List(kind.inner))
        _feed_list(digest, values, name)
    elif isinstance(kind, pl.List):
        _feed_list(digest, values, name)
    elif kind in (pl.String, pl.Binary, pl.Categorical, pl.Enum) or kind.is_decimal():
        _feed_bytes(digest, values if kind in (pl.String, pl.Binary) else values.cast(pl.String))
    elif kind.is_float():
        numbers = values.to_numpy()
        _feed_array(digest, np.where(np.isnan(numbers), np.array(np.nan, dtype=numbers.dtype), numbers))
    elif kind == pl.Boolean:
        _feed_array(digest, np.packbits(values.to_numpy()))
    elif kind.is_integer() or kind.is_temporal():
        physical = values.to_physical()
        if physical.dtype in (pl.Int128, pl.UInt128):
            _feed_bytes(digest, physical.cast(pl.String))
        else:
            _feed_array(digest, physical.to_numpy())
    else:
        raise InputError(
            f"column {name!r} cannot be kept in the lake",
            wanted="a type that Parquet has",
            got=repr(kind),
            do="cast it first",
        )


def _feed_list(digest: Any, values: pl.Series, name: str) -> None:
    lengths = values.list.len().cast(pl.Int64)
    _feed_array(digest, lengths.to_numpy())
    _feed(digest, values.filter(lengths > 0).explode(), name)


def _feed_array(digest: Any, numbers: np.ndarray) -> None:
    numbers = np.ascontiguousarray(numbers)
    if sys.byteorder == "big":
        numbers = numbers.byteswap()
    digest.update(numbers.view(np.uint8).data if numbers.size else b"")


def _feed_bytes(digest: Any, values: pl.Series) -> None:
    blocks = [values.slice(start, _BLOCK) for start in range(0, len(values), _BLOCK)]
    if len(blocks) == 1:  # most columns: one conversion gives lengths and bytes
        columns = [*_offsets_and_bytes(blocks[0])]
        _feed_array(digest, np.concatenate([np.diff(offsets) for offsets, _ in columns]))
        for _, data in columns:
            digest.update(data)
        return
    lengths = values.bin.size() if values.dtype == pl.Binary else values.str.len_bytes()
    _feed_array(digest, lengths.cast(pl.Int64).to_numpy())
    for block in blocks:
        for _, data in _offsets_and_bytes(block):
            digest.update(data)


def _offsets_and_bytes(values: pl.Series) -> Iterator[tuple[np.ndarray, memoryview]]:
    """Of each chunk of texts: where each begins and the last ends, and the bytes of all of them."""
    array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    for chunk in getattr(array, "chunks", [array]):
        _, offsets_buffer, data = chunk.buffers()
        offsets = np.frombuffer(offsets_buffer, dtype=np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
        yield offsets, memoryview(data if data is not None else b"")[int(offsets[0]) : int(offsets[-1])]
