"""The tables of the solvers line, as `tables.toml` declares them. Those in ARCHIVE go from cycle to cycle
(`population`).

A run is one process on one formula. `instance` names the formula (shuffles have their own names), `shuffle`
is 0 for the formula as generated.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, read_tables

CLOCK = "clock"
"""Status of a run that the clock ended with processor time left, because the machine was too busy: no result,
see `execute.starved`."""
REFUSED, UNREAD = "refused", "unread"
"""Statuses of a run that ended by itself with an error and no answer; unread: and it said that it cannot read
the formula."""
LATE_GATES = ("benchmark", "duel", "holdout")
"""Stages in which a variant that passed all gates can still be blocked permanently; see `gates.judging`."""
CUT_OFF_SHARES = (6, 12, 20, 40, 60, 90)

_tables = read_tables(Path(__file__).with_name("tables.toml"))
GATED = _tables["gated"]
RUNS = _tables["benchmark_runs"]
SMOKE_RUNS = _tables["smoke_runs"]
CORRECTNESS_RUNS = _tables["correctness_runs"]
STABILITY_RUNS = _tables["stability_runs"]
HOLDOUT_RUNS = _tables["holdout_runs"]
GATE_RUNS = _tables["gate_runs"]
BINARIES = _tables["binaries"]
METRICS = _tables["metrics"]
OBJECTIVES = _tables["objectives"]
OBJECTIVE_REVIEWS = _tables["objective_reviews"]
SCORES = _tables["objective_scores"]
RANKING = _tables["consensus_ranking"]
WEIGHTS = _tables["consensus_weights"]
CONTROL = _tables["control"]
DUELS = _tables["champion_trials"]
DECISIONS = _tables["champion_decisions"]
CONTEST_FAMILIES = _tables["champion_families"]
RACES = _tables["champion_races"]
RULE_METRICS = _tables["rule_metrics"]
TRANSFER = _tables["transfer"]
VARIANTS = _tables["variants"]
FINDINGS = _tables["findings"]
HISTORY = _tables["history"]
PLANS = _tables["plans"]
RULE_PROPOSALS = _tables["rule_proposals"]
FAILED_PROPOSALS = _tables["unmade"]
CODER_RUNS = _tables["coder_runs"]
SUBMISSIONS = _tables["submissions"]
PROPOSED = _tables["proposed_rules"]
PROVENANCE = _tables["provenance"]
ARCHIVE: dict[str, TableSchema] = {
    "variants": VARIANTS,
    "derivations": DERIVATIONS,
    "runs": RUNS,
    "holdout": HOLDOUT_RUNS,
    "objectives": OBJECTIVES,
    "ranking": RANKING,
    "rule_proposals": RULE_PROPOSALS,
    "findings": FINDINGS,
    "history": HISTORY,
    "state": STATE,
}
TABLES = incoming_tables(ARCHIVE) | _tables.assets
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""


def counting(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of RUNS that are results: not those that the clock cut short, unless a variant has no
    others on a suite."""
    cut = pl.col("status") == CLOCK
    return runs.filter(~cut | cut.all().over("variant_id", "suite", "timeout_s"))
