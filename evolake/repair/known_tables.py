"""Every table that the study publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.repair import tables
    from evolake.repair.statistics import tables as found

    named = (
        tables.PROBLEMS, tables.STUDY, tables.RESULTS, tables.ATTEMPTS, found.SUMMARY, found.COMPARISONS, found.CONVERGENCE, found.EFFORT,
        found.FRONTIER, found.ROBUSTNESS, found.FIGURES,
    )
    return {schema.name: schema for schema in named}
