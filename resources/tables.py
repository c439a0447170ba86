"""Which table schema an asset's frame must have: metadata of its definition, which the IO manager reads when
it publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from evolake.lake import TableSchema

TABLE = "evolake/table"
"""Metadata of an asset: the name of its frame's schema, as a `SchemaName`. A process that has not loaded the
definitions sees the name alone."""
COLUMNS = "dagster/column_schema"


class SchemaName(str):
    """The name of a schema, which Dagster can store and show, and the schema."""

    schema: TableSchema

    @classmethod
    def of(cls, schema: TableSchema) -> SchemaName:
        """Return the name of a schema with the schema."""
        name = cls(schema.name)
        name.schema = schema
        return name


def named(metadata: Mapping[str, Any]) -> TableSchema | None:
    """Return the schema that an asset's metadata names; None without one."""
    name = metadata.get(TABLE)
    return name.schema if isinstance(name, SchemaName) else None


def table_metadata(schema: TableSchema | None) -> dict[str, Any]:
    """Return the metadata of an asset that is published under `schema`; None: its columns are free."""
    return {} if schema is None else {TABLE: SchemaName.of(schema), COLUMNS: column_schema(schema)}


def schema_of(asset: dg.AssetsDefinition) -> TableSchema | None:
    """Return the schema of an asset's frame; None where its columns are free."""
    return named(asset.metadata_by_key[asset.key])


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
