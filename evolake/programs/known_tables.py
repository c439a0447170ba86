"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.programs import tables

    return incoming_tables(tables.ARCHIVE) | {
        **dict.fromkeys(("seeds", "immigrant_programs", "candidates", "survivors"), tables.PROGRAMS),
        **dict.fromkeys(("generations", "notes", "duel_notes"), tables.JOURNAL), **dict.fromkeys(("measured", "heldout"), tables.MEASURED),
        "projects": tables.PROJECTS, "unmade": tables.UNMADE, "accepted": tables.GATED, "champion": tables.DECISIONS,
    }
