"""`evolake sql --schema`: the columns of a table or view, with what they mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.lake import Catalogue, TableSchema
    from evolake.lake.catalogue import Result


def columns_of(catalogue: Catalogue, table: str) -> Result:
    """Return one row per column: name, type in SQL, "key" where it helps to name a row, description ("" where
    its table has no schema).

    Raises:
        InputError: no such table; names close ones. CorruptPart, LakeError: as `Catalogue.query`.
    """
    from evolake.lake.catalogue import Result

    name = table.lower()
    if not re.fullmatch(r"\w+(\.\w+)?", name):
        raise InputError(
            "this is no name of a table",
            wanted="<line>.<asset>, or a view",
            got=repr(table),
            do="`evolake sql --list` names them",
        )
    columns = catalogue.query(f"DESCRIBE {name}").rows
    schema = schema_of(name)
    keys, summary = (
        (schema.keys, {column: schema.note(column) for column in schema.columns}) if schema else ((), {})
    )
    summary = _of_view(name) | summary
    rows = [
        (column, kind, "key" if column in keys else "", summary.get(column, ""))
        for column, kind, *_ in columns
    ]
    return Result(["column", "type", "key", "description"], ["VARCHAR"] * 4, rows)


def schema_of(table: str) -> TableSchema | None:
    """Return the schema of a table by the name that SQL has for it; None for a view over several, and for a
    table of free columns."""
    from evolake.cli.known_tables import all_tables
    from evolake.lake.datasets import SEALS
    from evolake.lake.inventory import PARTS
    from evolake.lake.schemas import SHARED, shared_table_of

    line, _, asset = table.rpartition(".")
    if line:
        shared = shared_table_of(asset)
        return SHARED[shared] if shared else all_tables().get((line, asset))
    return {"parts": PARTS, "seals": SEALS, **SHARED}.get(table.removesuffix("_all"))


def _of_view(table: str) -> dict[str, str]:
    """Return what is said of columns that are no schema's own: those that the lake adds, and those of a view
    by the shared tables that it reads."""
    from evolake.lake.catalogue import SQL_ROOT
    from evolake.lake.datasets import ORIGIN
    from evolake.lake.schemas import SHARED
    from evolake.lake.vocabulary import VOCABULARY

    details = {name: VOCABULARY[name] for name in ("line", *ORIGIN.names)} | {
        "cycle": VOCABULARY["origin_cycle"]
    }
    path = SQL_ROOT / "views" / f"{table}.sql"
    words = set(re.findall(r"\w+", path.read_text())) if path.is_file() else set()
    for name, schema in SHARED.items():
        if {name, f"{name}_all"} & words:
            details |= schema.descriptions
    return details
