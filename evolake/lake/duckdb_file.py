"""A .duckdb file of views over the lake, for tools that open DuckDB and know nothing of evolake.

The views are those of the catalogue (`<line>.<asset>`, the shared tables, those of sql/), over the parts that
the manifests name when the file is written: what a cycle adds later is seen once the file is written again.
Paths in it are absolute, because DuckDB looks for relative ones from where the reading program was started.
Each part is verified once, when the file is written; who reads it later reads the files as they are then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa

from evolake.errors import InputError, LakeError
from evolake.lake import datasets, packs
from evolake.lake.catalogue import SQL_ROOT
from evolake.lake.inventory import Inventory, Part, take_inventory
from evolake.lake.layout import check_name
from evolake.lake.schemas import SHARED, TableSchema, is_population
from evolake.lake.store import Lake

MARK = "evolake_lake"
"""A table that every such file has: root, evolake's version and when it was written. A file without it is
never replaced."""
_ORIGIN = (
    "data.*, of.superseded, of.line AS origin_line, of.asset AS origin_asset, of.cycle AS origin_cycle, "
    "of.run_id AS origin_run"
)


def write(
    lake: Lake, file: Path, schemas: Mapping[tuple[str, str], TableSchema], sql_root: Path = SQL_ROOT
) -> int:
    """Write the file, in the place of an earlier one, and return the number of its views.

    Args:
        schemas: (line, asset) -> schema of tables that shall be there, typed and empty, also if nothing is
            published.

    Raises:
        InputError: `file` is something else, or cannot be written. LakeError: a table is damaged, CorruptPart
            a part.
    """
    _refuse_others(file)
    inventory = take_inventory(lake)
    for error in inventory.damaged.values():
        raise error
    for part in inventory.parts:
        if part.state != "lost":
            part.verify(lake)
    try:
        with tempfile.TemporaryDirectory(prefix=".tmp-", dir=file.absolute().parent) as folder:
            made = Path(folder) / "lake.duckdb"
            with duckdb.connect(made) as connection:
                views = _fill(connection, lake, inventory, schemas, sql_root)
            made.replace(file)
    except OSError as error:
        wanted = "a file in a folder that is there"
        raise InputError(
            f"{file} cannot be written", wanted=wanted, got=error.strerror, do="name another file"
        ) from error
    return views


def _refuse_others(file: Path) -> None:
    if not file.exists():
        return
    try:
        with duckdb.connect(file, read_only=True) as connection:
            connection.execute(f"FROM {MARK}")
    except duckdb.Error as error:
        raise InputError(
            f"{file} is there and was not written by this command",
            wanted="a new file, or one of `evolake lake duckdb`",
            got=str(error).splitlines()[0],
            do="name another file, or close the program that has it open for writing",
        ) from None


def _fill(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    inventory: Inventory,
    schemas: Mapping[tuple[str, str], TableSchema],
    sql_root: Path,
) -> int:
    connection.execute("SET TimeZone = 'UTC'")
    parts = [part for part in inventory.parts if part.state != "lost"]
    known = datasets.parts_table(inventory.tables).filter(pl.col("state") != "lost")
    for name, frame in (("parts", known), ("seals", datasets.seals_table(lake))):
        connection.register("_rows", frame.to_arrow())
        connection.execute(f"CREATE TABLE {name} AS FROM _rows")
        connection.unregister("_rows")
    connection.execute(
        "CREATE TABLE _part AS SELECT path, line, asset, cycle, run_id, state <> 'current' AS superseded "
        "FROM parts"
    )
    for table, schema in SHARED.items():
        of_table = [part for part in parts if part.shared_table == table]
        columns = ", ".join(f'data."{name}"' for name in schema.columns)
        _view(connection, table, [part for part in of_table if not part.superseded], schema, columns)
        _view(connection, f"{table}_all", of_table, schema, _ORIGIN.replace("data.*", columns))
    tables = sorted({(part.line, part.asset) for part in parts} | set(schemas))
    for line in sorted({line for line, _ in tables}):
        connection.execute(f'CREATE SCHEMA "{check_name("line", line)}"')
    for line, asset in tables:
        current = [part for part in parts if (part.line, part.asset) == (line, asset) and not part.superseded]
        schema = schemas.get((line, asset))
        own_cycle = any("cycle" in part.columns for part in current) or (
            schema is not None and "cycle" in schema.columns
        )
        columns = "data.* EXCLUDE (filename, origin_cycle, origin_run" + (
            ")" if own_cycle else ", cycle), of.cycle"
        )
        columns += " REPLACE (of.cycle AS cycle)" if own_cycle and is_population(asset) else ""
        _view(connection, f'"{line}"."{check_name("asset", asset)}"', current, schema, columns)
    _run_files(connection, sql_root)
    connection.execute(
        f"CREATE TABLE {MARK} AS SELECT $root AS root, now() AS written_at", {"root": str(lake.root)}
    )
    return connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall()[0][0]


def _view(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    parts: Sequence[Part],
    schema: TableSchema | None,
    columns: str,
) -> None:
    """Create a view over files, and over an empty table of the schema: columns that no file has are there,
    and null."""
    paths = ", ".join(
        "'" + str(path).replace("'", "''") + "'" for path in dict.fromkeys(part.path for part in parts)
    )
    source = f"read_parquet([{paths}], filename = true, union_by_name = true, hive_partitioning = false)"
    known = datasets.arrow_schema(schema).empty_table() if schema is not None else pa.table({})
    for added in ("filename", *packs.ADDED):
        if added not in known.column_names:
            known = known.append_column(added, pa.array([], pa.string()))
    if schema is None and not parts:
        return
    empty = "main._empty_" + name.replace('"', "").replace(".", "_")
    connection.register("_rows", known)
    connection.execute(f"CREATE TABLE {empty} AS FROM _rows")
    connection.unregister("_rows")
    source = f"(FROM {empty} UNION ALL BY NAME FROM {source})" if parts else empty
    same = "of.path = data.filename AND (data.origin_cycle IS NULL OR of.cycle = data.origin_cycle)"
    connection.execute(
        f"CREATE VIEW {name} AS SELECT {columns} FROM {source} AS data JOIN main._part AS of ON {same}"
    )


def _run_files(connection: duckdb.DuckDBPyConnection, sql_root: Path) -> None:
    """Create the views and macros of sql/; one may use another."""
    waiting = sorted(
        path for name in ("views", "lineage", "portable") for path in (sql_root / name).glob("*.sql")
    )
    while waiting:
        left = []
        for path in waiting:
            try:
                connection.execute(path.read_text())
            except duckdb.CatalogException:
                left.append(path)
        if len(left) == len(waiting):
            raise LakeError(
                f"{left[0]} cannot be run",
                wanted="one CREATE VIEW or MACRO over what is there",
                do="fix the file",
            )
        waiting = left
