"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.solvers import tables
    from evolake.solvers import tables_archive as archive

    return incoming_tables(archive.ARCHIVE) | {
        **dict.fromkeys(("seeds", "immigrant_variants", "variants", "survivors"), archive.VARIANTS),
        "provenance": archive.PROVENANCE, "plan": archive.PLANS, "unmade": archive.UNMADE, "coder_runs": archive.CODER_RUNS,
        "submissions": archive.SUBMISSIONS,
        "gate_runs": tables.GATE_RUNS, "compliance": tables.GATED, "binaries": tables.BINARIES,
        "smoke": tables.SMOKE_RUNS, "correctness": tables.CORRECTNESS_RUNS, "stability_runs": tables.STABILITY_RUNS,
        "benchmark_runs": tables.RUNS, "metrics": tables.METRICS, "objectives": tables.OBJECTIVES,
        "objective_reviews": tables.OBJECTIVE_REVIEWS, "objective_scores": tables.SCORES, "consensus_ranking": tables.RANKING,
        "consensus_ranking_weights": tables.WEIGHTS, "champion": tables.DECISIONS, "champion_trials": tables.DUELS,
        "champion_races": tables.RACES,
        "holdout_runs": tables.HOLDOUT_RUNS, "post_mortem": archive.FINDINGS, "attempts": archive.HISTORY,
        "proposed_rules": archive.PROPOSED, "rule_proposals": archive.RULE_PROPOSALS, "rule_metrics": tables.RULE_METRICS,
    }
