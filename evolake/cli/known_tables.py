"""Tables of lines that questions of the cookbook name: typed and empty in a lake where their line has not run, so that the answer is no rows."""

from __future__ import annotations

import re

from evolake.lake import TableSchema


def named_tables(statement: str) -> dict[tuple[str, str], TableSchema]:
    """(line, asset) -> schema of the known tables that a statement names as `<line>.<asset>`. A line's schemas are read only when it is named."""
    named = {asset.lower() for asset in re.findall(r"\bsolvers\.(\w+)", statement, re.IGNORECASE)}
    return {("solvers", asset): schema for asset, schema in _solvers().items() if asset in named} if named else {}


def _solvers() -> dict[str, TableSchema]:
    from evolake.solvers import tables
    from evolake.solvers.learned_rules import RULE_PROPOSALS
    from evolake.solvers.population import VARIANTS

    return {
        "seeds": VARIANTS, "variants": VARIANTS, "survivors": VARIANTS, "binaries": tables.BINARIES, "smoke": tables.SMOKE_RUNS,
        "correctness": tables.CORRECTNESS_RUNS, "stability_runs": tables.STABILITY_RUNS, "benchmark_runs": tables.RUNS, "metrics": tables.METRICS,
        "champion": tables.DECISIONS, "champion_trials": tables.DUELS, "holdout_runs": tables.HOLDOUT_RUNS, "rule_proposals": RULE_PROPOSALS,
        "consensus_ranking": tables.RANKING, "objectives": tables.OBJECTIVES, "objective_scores": tables.SCORES,
        "rule_metrics": tables.RULE_METRICS,
    }
