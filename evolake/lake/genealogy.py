"""Who is reached from an artifact along edges of the genealogy, however deep: the function `reached` of the
catalogue's SQL.

A recursive query joins each generation with all edges again: a thousand cycles are a thousand passes over a
million edges. Here the edges are sorted once, and each generation is a few slices of arrays. The names of the
artifacts are numbered when the edges are read: a Parquet file has each name once for each row group and a
number per row, so a million edges are read without a million strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.func import PythonUDFType

from evolake.lake import datasets
from evolake.lake.inventory import Part

NAME = "reached"
VIEW = "derivations_all"
"""The catalogue's view over the parts that the edges are read from."""
_CHILD, _PARENT = "child_id", "parent_id"


class Genealogy:
    """The edges of one catalogue, read when a question first needs them."""

    def __init__(self) -> None:
        self._edges: Edges | None = None

    def read(self, parts: Sequence[Part]) -> None:
        """Read the edges, the first time. parts: of VIEW, verified. Raises OSError if a file cannot be
        read."""
        if self._edges is None:
            self._edges = edges_of(parts)

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Give a connection `reached(id, down)`: all artifacts that a way leads to from `id` towards its
        ancestors, or its descendants if `down`, each once; `id` itself if it is on a loop. Empty for an
        artifact without edges."""
        # Types are made by this connection: the functions of the module would start a database of their own,
        # with its threads.
        string, boolean = connection.sqltype("VARCHAR"), connection.sqltype("BOOLEAN")
        connection.create_function(
            NAME, self._per_row, [string, boolean], connection.list_type(string), type=PythonUDFType.ARROW
        )

    def _per_row(self, ids: Any, down: Any) -> pa.Array:
        """Return `reached` of each row. ids: (n,) strings. down: (n,) booleans."""
        if self._edges is None:
            raise RuntimeError(f"{NAME} was called before its edges were read")
        edges, nobody = self._edges, np.zeros(0, np.int64)
        # made when pyarrow is imported
        index_in = pc.index_in  # pyright: ignore[reportAttributeAccessIssue]
        starts = index_in(ids.cast(edges.names.type), edges.names).to_pylist()
        found = [
            nobody if start is None else edges.reached(start, down=way)
            for start, way in zip(starts, down.to_pylist(), strict=True)
        ]
        ends = np.cumsum([0, *map(len, found)])
        values = edges.names.take(pa.array(np.concatenate([nobody, *found])))
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values.cast(pa.string()))


@dataclass(frozen=True)
class Edges:
    """names: (n,) strings, each artifact once. children, parents: (m,) positions in `names`."""

    names: pa.Array
    children: np.ndarray
    parents: np.ndarray

    def reached(self, start: int, *, down: bool) -> np.ndarray:
        """Return the positions of all that edges lead to from the artifact at `start`, in their order."""
        first, after = self._down if down else self._up
        seen, frontier = np.zeros(len(self.names), bool), np.array([start])
        while frontier.size:
            lengths = first[frontier + 1] - first[frontier]
            steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            met = after[np.repeat(first[frontier], lengths) + steps]
            frontier = np.unique(met[~seen[met]]).astype(np.int64)
            seen[frontier] = True
        return np.flatnonzero(seen)

    @cached_property
    def _up(self) -> tuple[np.ndarray, np.ndarray]:
        return self._sorted(self.children, self.parents)

    @cached_property
    def _down(self) -> tuple[np.ndarray, np.ndarray]:
        return self._sorted(self.parents, self.children)

    def _sorted(self, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (first, targets by source): those of source i are from first[i] up to first[i + 1]."""
        counts = np.bincount(sources, minlength=len(self.names))
        return np.concatenate([[0], np.cumsum(counts)]), targets[np.argsort(sources, kind="stable")]


def edges_of(parts: Sequence[Part]) -> Edges:
    """Return the edges of the view `lineage`: the current ones, and those of superseded parts whose child has
    no current row. Rows without a child or a parent are no edges."""
    current, before = (
        datasets.with_numbered_names(
            [part for part in parts if part.superseded is superseded], (_CHILD, _PARENT)
        )
        for superseded in (False, True)
    )
    chunks = [table.column(name) for name in (_CHILD, _PARENT) for table in (current, before)]
    whole = pa.chunked_array([chunk for column in chunks for chunk in column.chunks], chunks[0].type)
    whole = whole.unify_dictionaries()
    numbers = np.concatenate(
        [np.zeros(0, np.int32), *(chunk.indices.fill_null(-1).to_numpy() for chunk in whole.chunks)]
    )
    names = whole.chunks[0].dictionary if whole.num_chunks else pa.array([], chunks[0].type.value_type)
    children, parents = np.split(numbers, 2)
    known = np.zeros(len(names) + 1, bool)  # the last is that of -1, no name
    known[children[: len(current)]] = True
    wanted = (children >= 0) & (parents >= 0)
    wanted[len(current) :] &= ~known[children[len(current) :]]
    return Edges(names, children[wanted], parents[wanted])
