"""Which table schema an asset's frame must have. Declared where the asset is defined, looked up by the IO
manager when it publishes."""

from __future__ import annotations

import dagster as dg

from evolake.lake import TableSchema

_declared: dict[tuple[str, str], TableSchema] = {}


def declare(line: str, asset: str, schema: TableSchema) -> None:
    """From now on `line`/`asset` is published under `schema`."""
    _declared[(line, asset)] = schema


def declared(line: str, asset: str) -> TableSchema | None:
    """Return the schema of `line`/`asset`, or None where its columns are free."""
    return _declared.get((line, asset))


def column_schema(schema: TableSchema) -> dg.TableSchema:
    """Return what the UI's Columns section shows of a table: types, what the columns mean, and which of them
    name a row."""
    key = dg.TableColumnConstraints(other=["key"])
    return dg.TableSchema(
        [
            dg.TableColumn(name, str(kind), schema.note(name), key if name in schema.keys else None)
            for name, kind in schema.columns.items()
        ]
    )
