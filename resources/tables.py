"""Which table schema an asset's frame must have: metadata of its definition, which the IO manager reads when
it publishes."""

from __future__ import annotations

from typing import Any

import dagster as dg

from evolake.lake import TableSchema

TABLE = "evolake/table"
"""Metadata of an asset: the schema of its frame. A process that has not loaded the definitions sees only its
class."""
COLUMNS = "dagster/column_schema"


def table_metadata(schema: TableSchema | None) -> dict[str, Any]:
    """Return the metadata of an asset that is published under `schema`; None: its columns are free."""
    return {} if schema is None else {TABLE: schema, COLUMNS: column_schema(schema)}


def schema_of(asset: dg.AssetsDefinition) -> TableSchema | None:
    """Return the schema of an asset's frame; None where its columns are free."""
    return asset.metadata_by_key[asset.key].get(TABLE)


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
