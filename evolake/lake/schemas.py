"""Types of the tables that every line shares, each defined once: readers, writers and SQL views take them from here.

An asset that makes rows of a shared table publishes them as a side table named `<asset>__<table>`, so that materializing the asset again
replaces exactly its own rows; the catalogue shows the union of all side tables under the table's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.errors import InputError

Instant = pl.Datetime("us", "UTC")


@dataclass(frozen=True)
class TableSchema:
    """A table's columns, its version and what tells its rows apart.

    Attributes:
        name, version: written into the manifest with every part.
        columns: name -> polars type, in the order they are stored.
        keys: columns that together name a row. Publishing accepts repeated keys (checks report them); see `repeated_keys`.
        provenance: columns that say who wrote a row and when. They are stored but are not content: a re-run that differs in nothing else
            is the same content.
    """

    name: str
    version: int
    columns: Mapping[str, Any]
    keys: tuple[str, ...]
    provenance: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        stray = [name for name in (*self.keys, *self.provenance) if name not in self.columns]
        if stray:
            raise ValueError(f"schema {self.name}: no such column: {', '.join(stray)}")

    def empty(self) -> pl.DataFrame:
        """A frame of no rows with these columns."""
        return pl.DataFrame(schema=dict(self.columns))

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """Rows as a typed frame. A key that a row lacks is null.

        Raises:
            InputError: a row has a key that is no column, or a value that does not fit its column.
        """
        rows = [dict(row) for row in rows]
        for row in rows:
            if extra := [key for key in row if key not in self.columns]:
                raise self._stray(extra[0])
        data = {}
        for name, kind in self.columns.items():
            values = [row.get(name) for row in rows]
            try:
                data[name] = pl.Series(name, values, dtype=kind, strict=True)
            except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
                raise InputError(
                    f"table {self.name}: a value of column {name!r} does not fit", wanted=repr(kind), got=str(error).splitlines()[0],
                    do="give the column values of that type",
                ) from None
        return pl.DataFrame(data, schema=dict(self.columns))

    def validate(self, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` with its columns in the schema's order. A column of nothing but untyped nulls takes the wanted type.

        Raises:
            InputError: naming the first column that is missing, is not in the schema or has another type.
        """
        for name, wanted in self.columns.items():
            if name not in frame.columns:
                there = f"columns {', '.join(frame.columns) or 'none'}"
                raise InputError(f"table {self.name}: column {name!r} is missing", wanted=repr(wanted), got=there, do="add the column")
            got = frame.schema[name]
            if got != wanted and got != pl.Null:
                what = f"table {self.name}: column {name!r} has the wrong type"
                raise InputError(what, wanted=repr(wanted), got=repr(got), do="cast the column before publishing")
        if extra := [name for name in frame.columns if name not in self.columns]:
            raise self._stray(extra[0])
        return frame.select(pl.col(name).cast(kind) if frame.schema[name] == pl.Null else pl.col(name) for name, kind in self.columns.items())

    def _stray(self, name: str) -> InputError:
        return InputError(
            f"table {self.name}: column {name!r} is not in its schema", wanted=", ".join(self.columns), got=repr(name),
            do="rename or drop the column, or raise the schema's version",
        )

    def repeated_keys(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of `frame` whose key is null somewhere or is borne by another row too."""
        keys = list(self.keys)
        return frame.filter(pl.struct(keys).is_duplicated() | pl.any_horizontal(pl.col(keys).is_null()))


ARTIFACTS = TableSchema(
    "artifacts", 1,
    {
        "artifact_id": pl.String, "line": pl.String, "kind": pl.String, "cycle": pl.String, "state": pl.String, "content_sha": pl.String,
        "title": pl.String, "created_at": Instant, "run_id": pl.String, "code_version": pl.String,
    },
    keys=("artifact_id", "cycle", "state"), provenance=("created_at", "run_id"),
)
DERIVATIONS = TableSchema(
    "derivations", 1,
    {"child_id": pl.String, "parent_id": pl.String, "operator": pl.String, "weight": pl.Float64, "cycle": pl.String},
    keys=("child_id", "parent_id", "operator", "cycle"),
)
VERDICTS = TableSchema(
    "verdicts", 1,
    {
        "artifact_id": pl.String, "cycle": pl.String, "gate_no": pl.Int64, "gate": pl.String, "rule_id": pl.String, "rule_version": pl.String,
        "ruleset_hash": pl.String, "outcome": pl.String, "reason": pl.String, "evidence_sha": pl.String, "run_id": pl.String,
    },
    keys=("artifact_id", "cycle", "gate_no", "rule_id"), provenance=("run_id",),
)
AGENT_CALLS = TableSchema(
    "agent_calls", 2,
    {
        "call_id": pl.String, "artifact_id": pl.String, "cycle": pl.String, "role": pl.String, "backend": pl.String, "model": pl.String,
        "prompt_sha": pl.String, "response_sha": pl.String, "input_tokens": pl.Int64, "cached_tokens": pl.Int64, "output_tokens": pl.Int64,
        "usd": pl.Float64, "latency_s": pl.Float64, "attempt": pl.Int64, "status": pl.String,
        "prompt_id": pl.String,
    },
    keys=("call_id",),
)
EVALUATIONS = TableSchema(
    "evaluations", 1,
    {
        "artifact_id": pl.String, "suite": pl.String, "instance": pl.String, "seed": pl.Int64, "status": pl.String, "cpu_s": pl.Float64,
        "wall_s": pl.Float64, "peak_mb": pl.Float64, "counters": pl.String, "certificate": pl.String, "host": pl.String,
    },
    keys=("artifact_id", "suite", "instance", "seed"), provenance=("wall_s", "host"),
)
CHAMPIONS = TableSchema(
    "champions", 1, {"line": pl.String, "cycle": pl.String, "artifact_id": pl.String, "score": pl.Float64}, keys=("line", "cycle"),
)
RULES = TableSchema(
    "rules", 1,
    {"rule_id": pl.String, "version": pl.String, "text_sha": pl.String, "since_cycle": pl.String, "kind": pl.String},
    keys=("rule_id", "version"),
)
SHARED = {schema.name: schema for schema in (ARTIFACTS, DERIVATIONS, VERDICTS, AGENT_CALLS, EVALUATIONS, CHAMPIONS, RULES)}


def side_table(asset: str, schema: TableSchema) -> str:
    """The asset name under which `asset` publishes its rows of a shared table."""
    return f"{asset}__{schema.name}"


def shared_table_of(asset: str) -> str | None:
    """The shared table that an asset name is a side table of, or None."""
    _, mark, table = asset.rpartition("__")
    return table if mark and table in SHARED else None
