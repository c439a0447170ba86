"""Reference of tables: every table that SQL can name, its columns and what they mean."""

from __future__ import annotations

from cells import code, table

from evolake.cli.sql import all_tables
from evolake.lake import TableSchema
from evolake.lake.schemas import SHARED

HEAD = """# Tables

`evolake sql` names a line's own tables `<line>.<asset>` and shared ones by their bare name. `cycle` says of which cycle a row is; `<table>_all`
holds what was superseded besides, and who published it. `evolake sql --schema TABLE` prints what stands here.
"""  # noqa: E501


def tables_page() -> str:
    """Return the page: tables that all lines share, then each line's."""
    named = {**SHARED} | {f"{line}.{asset}": schema for (line, asset), schema in sorted(all_tables().items())}
    return HEAD + "".join(f"\n## {name}\n\n{columns(schema)}" for name, schema in named.items())


def columns(schema: TableSchema) -> str:
    """Return the columns of a table, its keys marked."""
    return table(["column", "type", "meaning"], (
        [code(name) + (" (key)" if name in schema.keys else ""), code(kind), schema.note(name)] for name, kind in schema.columns.items()  # noqa: E501
    ))  # fmt: skip
