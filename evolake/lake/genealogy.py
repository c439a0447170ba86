"""Who is reached from an artifact along edges of the genealogy, however deep: the function `reached` of the
catalogue's SQL.

A recursive query joins each generation with all edges again: a thousand cycles are a thousand passes over a
million edges. Here the edges are numbered and sorted once, and each generation is a few slices of arrays.
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import PythonUDFType

NAME = "reached"


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a connection `reached(id, sources, targets)`: all targets that a way leads to from `id`, each
    once; `id` itself where it is on a loop."""
    # Types are made by this connection: the functions of the module would start a database of their own, with
    # its threads.
    string = connection.sqltype("VARCHAR")
    strings = connection.list_type(string)
    connection.create_function(NAME, _per_row, [string, strings, strings], strings, type=PythonUDFType.ARROW)


def _per_row(ids: Any, sources: Any, targets: Any) -> pa.Array:
    """`reached` of each row. ids: (n,) strings. sources, targets: (n,) lists of strings, those of one row of
    equal length."""
    rows = zip(ids, sources, targets, strict=True)
    return pa.array(
        [reached(item.as_py(), before.values, after.values) for item, before, after in rows],
        pa.list_(pa.string()),
    )


def reached(start: str, sources: pa.Array, targets: pa.Array) -> list[str]:
    """Return every target to which edges (sources[i] -> targets[i]) lead from `start`, in no order."""
    if not len(sources):
        return []
    # one dictionary over the three arrays as they are: a copy of a million edges would take longer than the
    # walk
    encoded = pa.chunked_array([pa.array([start], sources.type), sources, targets]).dictionary_encode()
    _, before, after = (chunk.indices.to_numpy() for chunk in encoded.chunks)
    names = encoded.chunks[-1].dictionary
    order, count = np.argsort(before, kind="stable"), len(names)
    after = after[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(before, minlength=count))])
    seen, frontier = np.zeros(count, bool), np.zeros(1, np.int64)
    while frontier.size:
        lengths = first[frontier + 1] - first[frontier]
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        met = after[np.repeat(first[frontier], lengths) + steps]
        frontier = np.unique(met[~seen[met]]).astype(np.int64)
        seen[frontier] = True
    return names.take(pa.array(np.flatnonzero(seen))).to_pylist()
