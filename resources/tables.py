"""Which table schema an asset's frame must have. Declared where the asset is defined, looked up by the IO manager when it publishes."""

from __future__ import annotations

from evolake.lake import TableSchema

_declared: dict[tuple[str, str], TableSchema] = {}


def declare(line: str, asset: str, schema: TableSchema) -> None:
    """From now on `line`/`asset` is published under `schema`."""
    _declared[(line, asset)] = schema


def declared(line: str, asset: str) -> TableSchema | None:
    """The schema of `line`/`asset`, or None where its columns are free."""
    return _declared.get((line, asset))
