"""Arrow datasets over verified parts: what DuckDB sees as tables.

Each file is one fragment. What the path says (its cycle, and for the `_all` views its origin) is attached to
the fragment as a constant, so that a filter on it skips whole files; a file of many cycles has it in columns.
Parts of one table may differ in columns between versions: a column that a part lacks is null there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq

from evolake.lake.inventory import PARTS, Part, TableParts
from evolake.lake.schemas import SEALS, TableSchema
from evolake.lake.store import Lake

ORIGIN = pa.schema(
    [
        ("superseded", pa.bool_()),
        ("origin_line", pa.string()),
        ("origin_asset", pa.string()),
        ("origin_cycle", pa.string()),
        ("origin_run", pa.string()),
    ]
)
_CYCLE = pa.field("cycle", pa.string())
PART_CYCLE = "origin_cycle"
Constants = dict[str, str | bool | None]


def arrow_schema(schema: TableSchema) -> pa.Schema:
    """Return the Arrow schema of a table's Parquet files."""
    return schema.empty().to_arrow(compat_level=pl.CompatLevel.oldest()).schema


def shared(parts: Sequence[Part], schema: TableSchema, *, with_origin: bool = False) -> ds.Dataset:
    """Return the union of side tables: the schema's columns, and with `with_origin` those of ORIGIN. Only
    readable parts."""
    wanted = arrow_schema(schema)
    parts = [part for part in parts if part.readable]
    return (
        _dataset(parts, origin_schema(schema), _origin)
        if with_origin
        else _dataset(parts, wanted, lambda part: {})
    )


def _origin(part: Part) -> Constants:
    """Return what a part's rows have in common. A file of many cycles has cycle and run in its own
    columns."""
    common: Constants = {"superseded": part.superseded, "origin_line": part.line, "origin_asset": part.asset}
    return (
        common
        if part.place
        else common | {"origin_cycle": part.partition.cycle, "origin_run": part.record.run_id}
    )


def origin_schema(schema: TableSchema) -> pa.Schema:
    """Return the Arrow schema of a shared table with the columns of ORIGIN."""
    return pa.schema([*arrow_schema(schema), *ORIGIN])


def empty(schema: pa.Schema) -> ds.Dataset:
    """No rows of these columns."""
    return ds.dataset(schema.empty_table())


def table_schema(tables: Sequence[TableParts], schema: TableSchema | None) -> pa.Schema | None:
    """Return the Arrow schema of one line's table with a `cycle` column. None if neither a schema nor a
    readable part has the columns."""
    known = [arrow_schema(schema)] if schema else []
    for parts in tables:
        for columns, paths in parts.paths_by_columns():
            known += [
                pa.schema([footer.field(name) for name in footer.names if name in columns])
                for footer in _footer(paths)
            ]
    if not known:
        return None
    stored = pa.unify_schemas(known, promote_options="permissive")
    return stored if "cycle" in stored.names else stored.append(_CYCLE)


def with_part_cycle(schema: pa.Schema) -> pa.Schema:
    """Return the schema with the cycle of the part as a further column, `PART_CYCLE`: null but for rows of
    files of many cycles."""
    return schema if PART_CYCLE in schema.names else schema.append(pa.field(PART_CYCLE, pa.string()))


def table(parts: Sequence[Part], wanted: pa.Schema) -> ds.Dataset:
    """Return one line's table, with the columns of its `table_schema`."""
    return _dataset([part for part in parts if part.readable], wanted, _cycle)


def with_numbered_names(parts: Sequence[Part], columns: Sequence[str]) -> pa.Table:
    """Return columns of strings with each string once for each piece of a file, and a number per row. Only
    readable parts."""
    wanted = pa.schema([(name, pa.dictionary(pa.int32(), pa.large_string())) for name in columns])
    files = ds.ParquetFileFormat(dictionary_columns=set(columns))
    return _dataset([part for part in parts if part.readable], wanted, lambda part: {}, files).to_table()


def _cycle(part: Part) -> Constants:
    return {} if part.place or part.partition.cycle is None else {"cycle": part.partition.cycle}


def _footer(paths: Iterable[Path]) -> list[pa.Schema]:
    """Return the Arrow schema of the first file that can be opened: files with the same columns need to be
    opened but once."""
    for path in paths:
        try:
            return [pq.read_schema(path).remove_metadata()]
        except (pa.ArrowInvalid, OSError):
            continue  # damaged: a query that names the table verifies it and says so
    return []


def _dataset(
    parts: Sequence[Part],
    schema: pa.Schema,
    constants: Callable[[Part], Constants],
    files: ds.ParquetFileFormat | None = None,
) -> ds.Dataset:
    """One fragment per file. Of a file of many cycles of which not all are wanted, the rows that are."""
    if not parts:
        return empty(schema)
    by_file: dict[Path, list[Part]] = {}
    for part in parts:
        by_file.setdefault(part.path, []).append(part)
    in_full = {path: some[0] for path, some in by_file.items() if not some[0].place or _is_all(path, some)}
    local = pyarrow.fs.LocalFileSystem()
    result = ds.FileSystemDataset.from_paths(
        [str(path) for path in in_full],
        schema=schema,
        format=files or ds.ParquetFileFormat(),
        filesystem=local,
        partitions=[_expression(constants(part)) for part in in_full.values()],
    )
    some_rows = [
        _rows(some, schema, constants(some[0])) for path, some in by_file.items() if path not in in_full
    ]
    return ds.dataset([*([result] if in_full else []), *some_rows]) if some_rows else result


def _is_all(path: Path, parts: Sequence[Part]) -> bool:
    return pq.read_metadata(path).num_rows == sum(part.place.rows for part in parts if part.place)


def _rows(parts: Sequence[Part], schema: pa.Schema, constants: Constants) -> ds.Dataset:
    whole = pl.read_parquet(parts[0].path, hive_partitioning=False)
    wanted = pl.concat(
        [whole[part.place.offset : part.place.offset + part.place.rows] for part in parts if part.place]
    )
    wanted = wanted.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    wanted = wanted.with_columns(
        pl.lit(None).alias(name) for name in schema.names if name not in wanted.columns
    ).select(schema.names)
    return ds.dataset(wanted.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema))


def _expression(constants: Constants) -> ds.Expression:
    result = ds.scalar(True)
    for name, value in constants.items():
        result = result & (ds.field(name).is_null() if value is None else ds.field(name) == value)
    return result


def parts_table(tables: Sequence[TableParts]) -> pl.DataFrame:
    """Return one row per part: what the manifests say."""
    return pl.concat([PARTS.empty(), *(table.frame() for table in tables)])


def seals_table(lake: Lake) -> pl.DataFrame:
    """Return one row per seal. `broken`: this link or one before it does not hold."""
    rows = []
    for line in lake.seals.lines():
        seals, broken = lake.seals.chain(line)
        whole = int(broken[0]) - 1 if broken else len(seals)
        for seal in filter(None, seals.values()):
            row = {name: getattr(seal, name) for name in SEALS.columns if name != "broken"}
            rows.append(row | {"broken": int(seal.cycle) > whole})
    return pl.DataFrame(rows, schema=dict(SEALS.columns))
