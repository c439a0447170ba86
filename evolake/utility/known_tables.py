"""Every table that the study publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.utility import tables

    named = (
        tables.PROBLEMS, tables.STUDY, tables.STEPS, tables.REPLIES, tables.SUMMARY, tables.COMPARISONS, tables.CURVES, tables.FIGURES,
    )
    return {schema.name: schema for schema in named}
