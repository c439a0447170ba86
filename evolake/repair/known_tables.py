"""Every table that the study publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.repair import tables
    from evolake.repair.statistics import tables as findings

    named = (
        tables.PROBLEMS, tables.STUDY, tables.RESULTS, tables.ATTEMPTS, findings.SUMMARY, findings.COMPARISONS, findings.CONVERGENCE, findings.EFFORT,
        findings.FRONTIER, findings.ROBUSTNESS, findings.FIGURES,
    )
    return {schema.name: schema for schema in named}
