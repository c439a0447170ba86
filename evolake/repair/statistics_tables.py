"""Types of what the study finds. Every table bears suite and variation, so that the main benchmark, its perturbations and the transfer share them."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import TableSchema

_WHERE = {"suite": pl.String, "variation": pl.String}
_SHARE = {"rate": pl.Float64, "wilson_low": pl.Float64, "wilson_high": pl.Float64, "bootstrap_low": pl.Float64, "bootstrap_high": pl.Float64}

SUMMARY = TableSchema(
    "summary", 1,
    {
        **_WHERE, "arm": pl.String, "backend": pl.String, "model": pl.String, "problems": pl.Int64, "seeds": pl.Int64, "runs": pl.Int64,
        "solved": pl.Int64, **_SHARE,
        "sat_runs": pl.Int64, "sat_certified": pl.Int64, "sat_rate": pl.Float64, "sat_low": pl.Float64, "sat_high": pl.Float64,
        "unsat_runs": pl.Int64, "unsat_certified": pl.Int64, "unsat_rate": pl.Float64, "unsat_low": pl.Float64, "unsat_high": pl.Float64,
        "calls": pl.Int64, "calls_per_solve": pl.Float64, "calls_per_solve_low": pl.Float64, "calls_per_solve_high": pl.Float64,
        "solver_calls": pl.Int64, "solver_calls_per_solve": pl.Float64, "solver_calls_per_solve_low": pl.Float64,
        "solver_calls_per_solve_high": pl.Float64, "median_first_certified_call": pl.Float64, "budget_exceeded": pl.Int64,
        "parse_failures": pl.Int64, "input_tokens": pl.Int64, "output_tokens": pl.Int64,
        "latency_mean_s": pl.Float64, "latency_median_s": pl.Float64, "latency_p95_s": pl.Float64, "cpu_mean_s": pl.Float64,
    },
    keys=("suite", "variation", "arm"), provenance=("latency_mean_s", "latency_median_s", "latency_p95_s", "cpu_mean_s"),
)
COMPARISONS = TableSchema(
    "comparisons", 1,
    {
        **_WHERE, "unit": pl.String, "first": pl.String, "second": pl.String, "pairs": pl.Int64, "both": pl.Int64, "only_first": pl.Int64,
        "only_second": pl.Int64, "neither": pl.Int64, "difference": pl.Float64, "difference_low": pl.Float64, "difference_high": pl.Float64,
        "odds_ratio": pl.Float64, "odds_low": pl.Float64, "odds_high": pl.Float64, "p_value": pl.Float64, "p_holm": pl.Float64,
    },
    keys=("suite", "variation", "unit", "first", "second"),
)
CONVERGENCE = TableSchema(
    "convergence", 1,
    {**_WHERE, "arm": pl.String, "round": pl.Int64, "runs": pl.Int64, "solved": pl.Int64, **_SHARE}, keys=("suite", "variation", "arm", "round"),
)
EFFORT = TableSchema(
    "effort", 1,
    {**_WHERE, "arm": pl.String, "calls": pl.Int64, "runs": pl.Int64, "solved": pl.Int64, "rate": pl.Float64},
    keys=("suite", "variation", "arm", "calls"),
)
FRONTIER = TableSchema(
    "frontier", 1,
    {
        **_WHERE, "arm": pl.String, "mean_calls": pl.Float64, "mean_solver_calls": pl.Float64, "rate": pl.Float64, "on_frontier": pl.Boolean,
        "dominated_by": pl.List(pl.String),
    },
    keys=("suite", "variation", "arm"),
)
ROBUSTNESS = TableSchema(
    "robustness", 1,
    {
        "suite": pl.String, "variation": pl.String, "arm": pl.String, "problems": pl.Int64, "pairs": pl.Int64, "rate_before": pl.Float64,
        "rate_after": pl.Float64, "gained": pl.Int64, "lost": pl.Int64, "delta": pl.Float64, "delta_low": pl.Float64, "delta_high": pl.Float64,
    },
    keys=("suite", "variation", "arm"),
)
