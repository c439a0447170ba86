"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.designs import tables, tables_import

    return incoming_tables(tables.ARCHIVE) | {
        **dict.fromkeys(
            ("seeds", "immigrant_designs", "candidates", "merged_designs", "imported_designs", "tuned_designs", "survivors"), tables.DESIGNS,
        ),
        "merged": tables.MERGED, "merged_objectives": tables.MERGED_OBJECTIVES,
        "directions": tables.DIRECTIONS, "unmade": tables.UNMADE, "experiments": tables.EXPERIMENTS,
        "promoted_experiments": tables.EXPERIMENTS, "extrapolations": tables.EXTRAPOLATIONS, "raced": tables.RACED,
        "objectives": tables.OBJECTIVES,
        "objective_scores": tables.SCORES,
        "final_scores": tables.SCORES, "consensus_ranking": tables.RANKING, "final_ranking": tables.RANKING,
        "consensus_ranking_weights": tables.WEIGHTS, "final_ranking_weights": tables.WEIGHTS, "tuning": tables.TUNING,
        **{schema.name: schema for schema in (
            tables_import.IMPORTS, tables_import.RESULTS, tables_import.OBJECTIVES_READ, tables_import.TEXTS, tables_import.ARRIVALS,
        )},
        "meta_review": tables.REVIEWS, "analyses": tables.ANALYSES, "champion_trials": tables.DUELS, "champion_decisions": tables.DECISIONS,
    }
