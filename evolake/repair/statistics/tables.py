"""Types of what the study finds. Every table bears suite and variation, so that the main benchmark, its
perturbations and the transfer share them."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import TableSchema, tables_by_name
from evolake.repair import tables
from evolake.repair.tables import TERMS

_WHERE = {"suite": pl.String, "variation": pl.String}
_SHARE = {
    "rate": pl.Float64,
    "wilson_low": pl.Float64,
    "wilson_high": pl.Float64,
    "bootstrap_low": pl.Float64,
    "bootstrap_high": pl.Float64,
}

SUMMARY = TableSchema(
    "summary",
    1,
    {
        **_WHERE,
        "arm": pl.String,
        "backend": pl.String,
        "model": pl.String,
        "problems": pl.Int64,
        "seeds": pl.Int64,
        "runs": pl.Int64,
        "solved": pl.Int64,
        **_SHARE,
        "sat_runs": (pl.Int64, "How many runs were on sat problems."),
        "sat_certified": (pl.Int64, "Runs on sat problems that were solved."),
        "sat_rate": (pl.Float64, "Share of the runs on sat problems that were solved; null without any."),
        "sat_low": (pl.Float64, "Lower end of the 95% interval of sat_rate (Wilson)."),
        "sat_high": (pl.Float64, "Upper end of the 95% interval of sat_rate (Wilson)."),
        "unsat_runs": (pl.Int64, "How many runs were on unsat problems."),
        "unsat_certified": (pl.Int64, "Runs on unsat problems that were solved."),
        "unsat_rate": (pl.Float64, "Share of the runs on unsat problems that were solved; null without any."),
        "unsat_low": (pl.Float64, "Lower end of the 95% interval of unsat_rate (Wilson)."),
        "unsat_high": (pl.Float64, "Upper end of the 95% interval of unsat_rate (Wilson)."),
        "calls": pl.Int64,
        "calls_per_solve": (
            pl.Float64,
            "Calls of the proposer over all runs, per solved run; null if nothing was solved.",
        ),
        "calls_per_solve_low": (pl.Float64, "Lower end of its 95% interval (bootstrap over problems)."),
        "calls_per_solve_high": (pl.Float64, "Upper end of its 95% interval (bootstrap over problems)."),
        "solver_calls": pl.Int64,
        "solver_calls_per_solve": (
            pl.Float64,
            "Certifications over all runs, per solved run; null if nothing was solved.",
        ),
        "solver_calls_per_solve_low": (
            pl.Float64,
            "Lower end of its 95% interval (bootstrap over problems).",
        ),
        "solver_calls_per_solve_high": (
            pl.Float64,
            "Upper end of its 95% interval (bootstrap over problems).",
        ),
        "median_first_certified_call": (
            pl.Float64,
            "Median number of the call that was certified, over solved runs.",
        ),
        "budget_exceeded": (pl.Int64, "Runs that made more calls than they may; must be 0."),
        "parse_failures": pl.Int64,
        "input_tokens": pl.Int64,
        "output_tokens": pl.Int64,
        "latency_mean_s": (pl.Float64, "Mean elapsed time of a run, in seconds."),
        "latency_median_s": (pl.Float64, "Median elapsed time of a run, in seconds."),
        "latency_p95_s": (pl.Float64, "Elapsed time that 95% of the runs stay below, in seconds."),
        "cpu_mean_s": (pl.Float64, "Mean processor time of a run, in seconds."),
    },
    keys=("suite", "variation", "arm"),
    provenance=("latency_mean_s", "latency_median_s", "latency_p95_s", "cpu_mean_s"),
    terms=TERMS,
)
COMPARISONS = TableSchema(
    "comparisons",
    1,
    {
        **_WHERE,
        "unit": (
            pl.String,
            "What is paired: run (as the paper counts; optimistic) or problem (solved by more than half "
            "of its seeds; claims rest on it).",
        ),
        "first": (pl.String, "Arm that is compared."),
        "second": (pl.String, "Arm that it is compared with."),
        "pairs": pl.Int64,
        "both": (pl.Int64, "Pairs that both arms solved."),
        "only_first": (pl.Int64, "Pairs that the first arm alone solved."),
        "only_second": (pl.Int64, "Pairs that the second arm alone solved."),
        "neither": (pl.Int64, "Pairs that no arm solved."),
        "difference": (pl.Float64, "Solve rate of the first arm less that of the second."),
        "difference_low": (pl.Float64, "Lower end of its 95% interval (paired bootstrap over problems)."),
        "difference_high": (pl.Float64, "Upper end of its 95% interval (paired bootstrap over problems)."),
        "odds_ratio": (pl.Float64, "only_first over only_second; null where both are 0."),
        "odds_low": (pl.Float64, "Lower end of its exact 95% interval (Clopper and Pearson)."),
        "odds_high": (pl.Float64, "Upper end of its exact 95% interval (Clopper and Pearson)."),
        "p_value": (pl.Float64, "Two-sided p-value of McNemar's exact test."),
        "p_holm": (pl.Float64, "The p-value with Holm's correction over the comparisons of one unit."),
    },
    keys=("suite", "variation", "unit", "first", "second"),
    terms=TERMS,
)
CONVERGENCE = TableSchema(
    "convergence",
    1,
    {
        **_WHERE,
        "arm": pl.String,
        "round": (pl.Int64, "Rounds that a run has had."),
        "runs": pl.Int64,
        "solved": (pl.Int64, "Runs solved within so many rounds."),
        **_SHARE,
    },
    keys=("suite", "variation", "arm", "round"),
    terms=TERMS,
)
EFFORT = TableSchema(
    "effort",
    1,
    {
        **_WHERE,
        "arm": pl.String,
        "calls": (pl.Int64, "Calls of the proposer that a run has had."),
        "runs": pl.Int64,
        "solved": (pl.Int64, "Runs whose certified answer came within so many calls."),
        "rate": pl.Float64,
    },
    keys=("suite", "variation", "arm", "calls"),
    terms=TERMS,
)
FRONTIER = TableSchema(
    "frontier",
    1,
    {
        **_WHERE,
        "arm": pl.String,
        "mean_calls": (pl.Float64, "Mean calls of the proposer per run."),
        "mean_solver_calls": (pl.Float64, "Mean certifications per run."),
        "rate": pl.Float64,
        "on_frontier": (
            pl.Boolean,
            "Whether no arm solves as much with fewer certifications, or more with as many.",
        ),
        "dominated_by": (pl.List(pl.String), "Arms that are at least as good in both and better in one."),
    },
    keys=("suite", "variation", "arm"),
    terms=TERMS,
)
ROBUSTNESS = TableSchema(
    "robustness",
    1,
    {
        "suite": pl.String,
        "variation": pl.String,
        "arm": pl.String,
        "problems": pl.Int64,
        "pairs": (pl.Int64, "Perturbed runs, each paired with that of the problem it was made from."),
        "rate_before": (pl.Float64, "Share solved of the problems as they were."),
        "rate_after": (pl.Float64, "Share solved of their re-encodings."),
        "gained": (pl.Int64, "Pairs solved only after the re-encoding."),
        "lost": (pl.Int64, "Pairs solved only before the re-encoding."),
        "delta": (pl.Float64, "rate_after less rate_before."),
        "delta_low": (pl.Float64, "Lower end of the 95% interval of delta (bootstrap over problems)."),
        "delta_high": (pl.Float64, "Upper end of the 95% interval of delta (bootstrap over problems)."),
    },
    keys=("suite", "variation", "arm"),
    terms=TERMS,
)
FIGURES = TableSchema(
    "figures",
    1,
    {
        "name": (pl.String, "What the figure is about."),
        "png_sha": (pl.String, "Blob with the picture (PNG)."),
    },
    keys=("name",),
)
TABLES = tables_by_name(
    tables.PROBLEMS,
    tables.STUDY,
    tables.RESULTS,
    tables.ATTEMPTS,
    SUMMARY,
    COMPARISONS,
    CONVERGENCE,
    EFFORT,
    FRONTIER,
    ROBUSTNESS,
    FIGURES,
)
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
