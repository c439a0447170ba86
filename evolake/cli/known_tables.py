"""Tables of lines that a statement names: typed and empty in a lake where their line has not run, so that the
answer is no rows."""

from __future__ import annotations

import re

from evolake.lake import TableSchema
from evolake.lines import lines


def all_tables() -> dict[tuple[str, str], TableSchema]:
    """Return (line, asset) -> schema of every table that the code knows under its own name."""
    from evolake.agents import guidance

    result = {
        (spec.name, asset): schema
        for spec in lines().values()
        if spec.tables
        for asset, schema in spec.tables.load().items()
    }
    return result | {(guidance.LINE, guidance.ASSET): guidance.GUIDANCE}


def named_tables(statement: str) -> dict[tuple[str, str], TableSchema]:
    """Return (line, asset) -> schema of the known tables that a statement names as `<line>.<asset>`. A line's
    schemas are read only when it is named."""
    result: dict[tuple[str, str], TableSchema] = {}
    for spec in lines().values():
        named = {asset.lower() for asset in re.findall(rf"\b{spec.name}\.(\w+)", statement, re.IGNORECASE)}
        if named and spec.tables:
            result |= {
                (spec.name, asset): schema for asset, schema in spec.tables.load().items() if asset in named
            }
    return result
