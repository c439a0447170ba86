"""Tables that SQL may name before the line has run."""

from __future__ import annotations

from evolake.lake import TableSchema


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.solvers import tables
    from evolake.solvers.tables_archive import RULE_PROPOSALS, VARIANTS

    return {
        "seeds": VARIANTS, "variants": VARIANTS, "survivors": VARIANTS, "binaries": tables.BINARIES, "smoke": tables.SMOKE_RUNS,
        "correctness": tables.CORRECTNESS_RUNS, "stability_runs": tables.STABILITY_RUNS, "benchmark_runs": tables.RUNS, "metrics": tables.METRICS,
        "champion": tables.DECISIONS, "champion_trials": tables.DUELS, "holdout_runs": tables.HOLDOUT_RUNS, "rule_proposals": RULE_PROPOSALS,
        "consensus_ranking": tables.RANKING, "objectives": tables.OBJECTIVES, "objective_scores": tables.SCORES,
        "rule_metrics": tables.RULE_METRICS,
    }
