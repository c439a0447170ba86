"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.programs import tables

    return incoming_tables(tables.ARCHIVE) | {
        **dict.fromkeys(("seeds", "immigrant_programs", "candidates", "survivors"), tables.PROGRAMS),
        "projects": tables.PROJECTS, "generations": tables.JOURNAL, "notes": tables.JOURNAL, "measured": tables.MEASURED,
        "heldout": tables.MEASURED, "accepted": tables.GATED, "champion": tables.DECISIONS,
    }
