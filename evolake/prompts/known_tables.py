"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.prompts import tables

    return incoming_tables(tables.ARCHIVE) | {
        **dict.fromkeys(("seeds", "immigrant_prompts", "children", "survivors"), tables.PROMPTS),
        "accepted": tables.GATED, "problems": tables.PROBLEMS, "feed": tables.FEED, "feed_read": tables.FEED_READ,
        "iterations": tables.JOURNAL, "notes": tables.JOURNAL, "rollouts": tables.ROLLOUTS, "values": tables.VALUES, "ratings": tables.RATINGS,
        "edits": tables.EDITS, "unmade": tables.UNMADE, "updates": tables.UPDATES, "duel_replies": tables.EVALUATIONS, "heldout": tables.EVALUATIONS,
        "champion": tables.DECISIONS, "learnability": tables.LEARNABILITY,
    }
