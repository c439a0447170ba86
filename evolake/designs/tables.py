"""Types of the tables of the designs line.

Those in ARCHIVE are carried from cycle to cycle (`population.Population`); the others are what single assets add.
`N` keeps the name that the experiment contract gives it. Columns that came later are null in older parts (LATER).
"""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, TableSchema

DESIGNS = TableSchema(
    "designs", 1,
    {
        "design_id": pl.String, "state": pl.String, "cycle": pl.String, "title": pl.String, "origin": pl.String, "operator": pl.String,
        "rationale": pl.String, "direction_id": pl.String, "source_sha": pl.String, "traced_sha": pl.String, "graph_sha": pl.String,
        "key": pl.String, "genome": pl.String, "hyper": pl.String, "hyper_values": pl.String, "tuned": pl.Boolean, "reason": pl.String,
        "key_insight": pl.String, "success_level": pl.String, "imported_from": pl.String,
    },
    keys=("design_id",),
)
EXPERIMENTS = TableSchema(
    "experiments", 2,
    {
        "design_id": pl.String, "cycle": pl.String, "fidelity": pl.String, "level": pl.Int64, "batch": pl.Int64, "N": pl.Int64,
        "ratio": pl.Float64, "run_till_median": pl.Boolean, "max_steps": pl.Int64, "unsolved_fraction": pl.Float64, "median_step": pl.Int64,
        "steps_run": pl.Int64, "seed": pl.Int64, "wall_s": pl.Float64, "cpu_s": pl.Float64, "profile": pl.String, "engine": pl.String,
        "timed_out": pl.Boolean, "diverged": pl.Int64, "failure": pl.String,
    },
    keys=("design_id", "fidelity", "N", "max_steps", "seed", "profile"), provenance=("wall_s", "cpu_s"),
)
OBJECTIVES = TableSchema(
    "objectives", 1,
    {
        "objective_id": pl.String, "state": pl.String, "cycle": pl.String, "created_round": pl.Int64, "family": pl.String,
        "parameters": pl.String, "description": pl.String, "source": pl.String, "multiplier": pl.Float64, "origin": pl.String,
        "reason": pl.String, "imported_from": pl.String,
    },
    keys=("objective_id",),
)
STATE = TableSchema("state", 1, {"name": pl.String, "value": pl.String}, keys=("name",))

DIRECTIONS = TableSchema(
    "directions", 1,
    {
        "direction_id": pl.String, "cycle": pl.String, "number": pl.Int64, "phase": pl.String, "direction": pl.String, "rationale": pl.String,
        "focus": pl.String, "avoid": pl.String, "reference_ids": pl.List(pl.String), "looked_up": pl.List(pl.String),
        "key_insights": pl.List(pl.String), "success_patterns": pl.List(pl.String), "failure_patterns": pl.List(pl.String),
        "guidance": pl.List(pl.String),
    },
    keys=("direction_id",),
)
ANALYSES = TableSchema(
    "analyses", 1,
    {
        "design_id": pl.String, "cycle": pl.String, "fidelity": pl.String, "short_name": pl.String, "key_insight": pl.String,
        "success_level": pl.String, "detailed_analysis": pl.String, "comparison_to_references": pl.String, "recommended_next_steps": pl.String,
        "reference_weights": pl.String,
    },
    keys=("design_id", "fidelity"),
)
SCORES = TableSchema(
    "objective_scores", 1,
    {
        "objective_id": pl.String, "design_id": pl.String, "cycle": pl.String, "fidelity": pl.String, "score": pl.Float64, "status": pl.String,
        "reason": pl.String,
    },
    keys=("objective_id", "design_id", "fidelity"),
)
RANKING = TableSchema(
    "consensus_ranking", 1,
    {
        "design_id": pl.String, "cycle": pl.String, "rank": pl.Int64, "consensus": pl.Float64, "visits": pl.Float64, "ucb": pl.Float64,
        "largest_solved": pl.Int64, "median_step": pl.Int64, "fidelity": pl.String,
    },
    keys=("design_id",),
)
TUNING = TableSchema(
    "tuning", 1,
    {
        "design_id": pl.String, "cycle": pl.String, "trial": pl.Int64, "hyper_values": pl.String, "consensus": pl.Float64, "status": pl.String,
        "reason": pl.String, "largest_solved": pl.Int64, "median_step": pl.Int64,
    },
    keys=("design_id", "cycle", "trial"),
)
REVIEWS = TableSchema(
    "meta_review", 1,
    {
        "cycle": pl.String, "objective_id": pl.String, "assessment": pl.String, "multiplier_before": pl.Float64, "multiplier": pl.Float64,
        "research_phase": pl.String, "research_assessment": pl.String, "guidance": pl.String,
    },
    keys=("cycle", "objective_id"),
)
DUELS = TableSchema(
    "champion_trials", 2,
    {
        "cycle": pl.String, "part": pl.String, "design_id": pl.String, "pair": pl.Int64, "N": pl.Int64, "batch": pl.Int64, "seed": pl.Int64,
        "max_steps": pl.Int64, "median_step": pl.Int64, "unsolved_fraction": pl.Float64, "solved": pl.Boolean, "steps_run": pl.Int64,
        "wall_s": pl.Float64, "cpu_s": pl.Float64, "profile": pl.String, "engine": pl.String, "timed_out": pl.Boolean,
        "failure": pl.String,
    },
    keys=("cycle", "part", "design_id", "pair", "N"), provenance=("wall_s", "cpu_s"),
)
DECISIONS = TableSchema(
    "champion_decisions", 1,
    {
        "cycle": pl.String, "comparison": pl.String, "challenger_id": pl.String, "incumbent_id": pl.String, "N": pl.Int64, "batch": pl.Int64,
        "profile": pl.String, "pairs": pl.Int64, "ratio": pl.Float64, "ratio_low": pl.Float64, "ratio_high": pl.Float64,
        "noise_floor": pl.Float64, "wins": pl.Boolean, "reason": pl.String,
    },
    keys=("cycle", "comparison", "challenger_id"),
)
ARCHIVE: dict[str, TableSchema] = {
    "designs": DESIGNS, "derivations": DERIVATIONS, "experiments": EXPERIMENTS, "objectives": OBJECTIVES, "ranking": RANKING,
    "state": STATE,
}
LATER: dict[str, tuple[str, ...]] = {"experiments": ("failure",)}
"""Columns of the archive's tables that a lake written by an earlier version lacks; they are read as null."""
MERGED = TableSchema(
    "merged", 1,
    {
        "bundle_id": pl.String, "since_cycle": pl.String, "source": pl.String, "source_cycle": pl.String, "design_id": pl.String,
        "chosen": pl.Boolean, "place": pl.Int64, "title": pl.String, "origin": pl.String, "operator": pl.String, "rationale": pl.String,
        "source_sha": pl.String, "traced_sha": pl.String, "graph_sha": pl.String, "key": pl.String, "genome": pl.String, "hyper": pl.String,
        "hyper_values": pl.String, "tuned": pl.Boolean, "key_insight": pl.String, "success_level": pl.String, "parents": pl.String,
    },
    keys=("bundle_id", "design_id"),
)
