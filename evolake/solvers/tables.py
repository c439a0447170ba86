"""Types of the tables of the solvers line that hold measurements, rankings and who reigns.

A run is one process on one formula. `instance` names the formula (shuffles have names of their own), `shuffle` is 0 for the formula as generated.

    status        what the run came to: "sat" "unsat" "unknown" "timeout" "memory" "crash" "malformed", or "wrong": an answer that is refuted by the
                  formula (its model falsifies a clause) or by the instance's known status
    answer        what the solver said ("SAT", "UNSAT"), also when it is wrong; null without an answer
    certificate   "model": checked on the formula; "proof": verified by a proof checker; null: nothing proves the answer
    proof_status  of an UNSAT answer: "verified", "refuted", "missing" (an empty file), "unknown" (a limit, or a solver that writes none), or
                  "unchecked" where it was not drawn
    proof_bytes   length of the proof that the run wrote, whatever it came to; null where the solver writes none, and in duels (`champion_trials`) of
                  lakes of 0.1.0
    solved        counts as solved: the answer is certified, and came within `timeout_s` of cpu time
"""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import TableSchema

LATE_GATES = ("benchmark", "duel", "holdout")
"""Stages in which a variant that passed all gates can still be blocked for good; see `soundness`."""
_RUN_COLUMNS = {
    "variant_id": pl.String, "cycle": pl.String, "suite": pl.String, "instance": pl.String, "family": pl.String, "expected": pl.String,
    "formula_sha": pl.String, "shuffle": pl.Int64, "seed": pl.Int64, "repeat": pl.Int64, "status": pl.String, "answer": pl.String,
    "solved": pl.Boolean, "answer_checked": pl.Boolean, "certificate": pl.String, "proof_status": pl.String, "proof_checker": pl.String,
    "proof_sha": pl.String, "proof_bytes": pl.Int64, "proof_cpu_s": pl.Float64, "problems": pl.String, "cpu_s": pl.Float64, "wall_s": pl.Float64,
    "peak_mb": pl.Float64, "conflicts": pl.Int64, "decisions": pl.Int64, "propagations": pl.Int64, "restarts": pl.Int64,
    "instructions": pl.Int64, "timeout_s": pl.Float64, "memory_mb": pl.Int64, "host": pl.String,
}
_RUN_KEYS = ("variant_id", "suite", "instance", "timeout_s", "repeat")
_RUN_PROVENANCE = ("wall_s", "host")

RUNS = TableSchema("benchmark_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE)
SMOKE_RUNS = TableSchema("smoke_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE)
CORRECTNESS_RUNS = TableSchema("correctness_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE)
STABILITY_RUNS = TableSchema("stability_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE)
HOLDOUT_RUNS = TableSchema("holdout_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE)

BINARIES = TableSchema(
    "binaries", 1,
    {
        "variant_id": pl.String, "cycle": pl.String, "passed": pl.Boolean, "program_sha": pl.String, "log_sha": pl.String, "warnings": pl.Int64,
        "cpu_s": pl.Float64, "reason": pl.String,
    },
    keys=("variant_id",),
)

CUT_OFF_SHARES = (6, 12, 20, 40, 60, 90)
METRICS = TableSchema(
    "metrics", 1,
    {
        "variant_id": pl.String, "cycle": pl.String, "suite": pl.String, "timeout_s": pl.Float64, "instances": pl.Int64,
        "instances_sat": pl.Int64, "instances_unsat": pl.Int64, "runs": pl.Int64, "vbs_match": pl.Int64, "vbs_mismatch": pl.Int64,
        "wrong": pl.Int64, "unproved": pl.Int64, "failed": pl.Int64, "solved": pl.Float64, "solved_sat": pl.Float64, "solved_unsat": pl.Float64,
        **{f"solved_within_{share}": pl.Float64 for share in CUT_OFF_SHARES},
        "memory_mean_mb": pl.Float64, "memory_max_mb": pl.Float64, "additionally_solved": pl.Int64, "par2": pl.Float64, "par2_sat": pl.Float64,
        "par2_unsat": pl.Float64, "proof_share": pl.Float64,
    },
    keys=("variant_id", "suite", "timeout_s"),
)
OBJECTIVES = TableSchema(
    "objectives", 1,
    {
        "objective_id": pl.String, "state": pl.String, "cycle": pl.String, "created_round": pl.Int64, "family": pl.String,
        "parameters": pl.String, "description": pl.String, "source": pl.String, "multiplier": pl.Float64, "origin": pl.String, "reason": pl.String,
    },
    keys=("objective_id",),
)
OBJECTIVE_REVIEWS = TableSchema(
    "objective_reviews", 1,
    {
        "objective_id": pl.String, "cycle": pl.String, "weight": pl.Float64, "median_tau": pl.Float64, "findings": pl.List(pl.String),
        "multiplier_before": pl.Float64, "multiplier": pl.Float64, "retired": pl.Boolean,
    },
    keys=("objective_id",),
)
"""What a cycle's review said of each objective that voted before it. `weight`, `median_tau`: of the consensus by the multipliers before."""
SCORES = TableSchema(
    "objective_scores", 1,
    {
        "objective_id": pl.String, "variant_id": pl.String, "cycle": pl.String, "score": pl.Float64, "status": pl.String, "reason": pl.String,
    },
    keys=("objective_id", "variant_id"),
)
RANKING = TableSchema(
    "consensus_ranking", 1,
    {
        "variant_id": pl.String, "cycle": pl.String, "rank": pl.Int64, "consensus": pl.Float64, "visits": pl.Float64, "ucb": pl.Float64,
        "solved": pl.Float64, "par2": pl.Float64, "wrong": pl.Int64,
    },
    keys=("variant_id",),
)
DUELS = TableSchema(
    "champion_trials", 2,
    {
        "cycle": pl.String, "champion_id": pl.String, "challenger_id": pl.String, "instance": pl.String, "pair": pl.Int64, "part": pl.String,
        "place": pl.Int64, "variant_id": pl.String, "status": pl.String, "solved": pl.Boolean, "certificate": pl.String,
        "proof_status": pl.String, "cpu_s": pl.Float64, "conflicts": pl.Int64, "timeout_s": pl.Float64, "host": pl.String,
        "proof_bytes": pl.Int64,
    },
    keys=("cycle", "challenger_id", "instance", "pair", "part"), provenance=("host",),
)
DECISIONS = TableSchema(
    "champion_decisions", 1,
    {
        "cycle": pl.String, "champion_id": pl.String, "challenger_id": pl.String, "instances": pl.Int64, "pairs": pl.Int64,
        "solved_champion": pl.Float64, "solved_challenger": pl.Float64, "par2_champion": pl.Float64, "par2_challenger": pl.Float64,
        "ratio": pl.Float64, "ratio_low": pl.Float64, "ratio_high": pl.Float64, "noise_floor": pl.Float64, "wins": pl.Boolean,
        "reason": pl.String,
    },
    keys=("cycle", "challenger_id"),
)
RULE_METRICS = TableSchema(
    "rule_metrics", 1, {"cycle": pl.String, "metric": pl.String, "rule_id": pl.String, "value": pl.Float64}, keys=("metric", "rule_id"),
)
