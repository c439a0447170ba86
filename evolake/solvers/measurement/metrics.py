"""Sum up a variant's runs on a suite: the feedback table of SATLUTION, one row per variant and suite (its
section 3, "Performance Evaluation and Feedback Metrics", and Table 3), what an UNSAT answer is worth, and
benchmark rows as rows of the shared table of evaluations.

PAR-2 is the SAT competition's penalised average: cpu seconds of a solved run, twice the timeout of any other.
The virtual best solver (VBS) knows the truth about each formula: the suite's confirmed status, or, for a
formula of unknown status, what any run proved by a checked model or a verified proof. Cut-offs are shares of
the timeout, since the paper's are of its 5000 s. With several repetitions of a run, counts of solved formulas
are means over the repetitions.

An UNSAT answer is verified, unproved or unchecked, each of them exactly one, as conditions in SQL that DuckDB
asks tables in and Polars frames (`polars.sql_expr`), so that a report, a question and a table of metrics
count the same. Every table of runs has the columns: `status`, `certificate`, `proof_status`. Only a verified
answer is solved and counts as a match with the truth.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from evolake.solvers.tables import CUT_OFF_SHARES, METRICS, REFUSED, RUNS, UNREAD, counting

UNSAT = "status = 'unsat'"
UNCHECKED = f"{UNSAT} AND certificate IS NULL AND coalesce(proof_status, 'unchecked') = 'unchecked'"
"""Outside of the share of proofs that is checked."""
UNPROVED = f"{UNSAT} AND certificate IS NULL AND coalesce(proof_status, 'unchecked') <> 'unchecked'"
"""A proof was asked for, and was refuted, was missing or incomplete, could not be read, could not be decided
within the limits, or is none that the solver writes."""
VERIFIED = f"{UNSAT} AND certificate = 'proof'"
UNSOUND = "status = 'wrong' OR proof_status = 'refuted'"
"""Of answers of either kind: refuted by a model, a proof or the formula's known status."""


def counted(condition: str) -> str:
    """Return how many rows fulfil it, as an aggregate of DuckDB."""
    return f"count(*) FILTER ({condition})"


def share_in_words(unsat: int, unchecked: int) -> str:
    """Return how much of UNSAT answers was checked, in words; "" if there are none."""
    if not unsat:
        return ""
    if not unchecked:
        return "every proof checked"
    return (
        f"{(unsat - unchecked) / unsat:.0%} of the proofs checked"
        if unchecked < unsat
        else "no proof checked"
    )


PENALTY = 2.0
BY_VARIANT = ["variant_id", "suite", "timeout_s"]


def compute_metrics(
    runs: pl.DataFrame, *, baselines: Sequence[str] = (), cycle: str | None = None
) -> pl.DataFrame:
    """Return rows of METRICS, best PAR-2 first within a suite.

    Args:
        runs: rows of RUNS of any number of variants, suites and timeouts.
        baselines: variant ids that "additionally solved" compares with; a baseline is compared with the other
            ones. Their runs must be in `runs`.
        cycle: written into the rows; None keeps the newest cycle among a variant's runs.
    """
    runs = proved(counting(RUNS.validate(runs)))
    marked = runs.join(known_truth(runs), on=["suite", "formula_sha"], how="left").with_columns(
        cost=cost(), repeats=_repeats()
    )
    rows = marked.group_by(BY_VARIANT).agg(
        pl.col("cycle").max() if cycle is None else pl.lit(cycle).alias("cycle"),
        pl.col("instance").n_unique().alias("instances"),
        *(
            pl.col("instance").filter(pl.col("truth") == truth).n_unique().alias(f"instances_{truth.lower()}")
            for truth in ("SAT", "UNSAT")
        ),
        pl.len().alias("runs"),
        pl.col("instance")
        .filter((pl.col("answer") == pl.col("truth")) & pl.col("certificate").is_not_null())
        .n_unique()
        .alias("vbs_match"),
        pl.col("instance").filter(pl.col("answer") != pl.col("truth")).n_unique().alias("vbs_mismatch"),
        (pl.col("status") == "wrong").sum().alias("wrong"),
        pl.sql_expr(UNPROVED).sum().alias("unproved"),
        pl.col("status").is_in(["crash", "malformed", "memory", REFUSED, UNREAD]).sum().alias("failed"),
        _solved(pl.lit(True)).alias("solved"),
        _solved(pl.col("truth") == "SAT").alias("solved_sat"),
        _solved(pl.col("truth") == "UNSAT").alias("solved_unsat"),
        *(
            _solved(pl.col("cpu_s") <= pl.col("timeout_s") * share / 100).alias(f"solved_within_{share}")
            for share in CUT_OFF_SHARES
        ),
        pl.col("peak_mb").mean().alias("memory_mean_mb"),
        pl.col("peak_mb").max().alias("memory_max_mb"),
        pl.col("cost").mean().alias("par2"),
        *(
            pl.col("cost").filter(pl.col("truth") == truth).mean().alias(f"par2_{truth.lower()}")
            for truth in ("SAT", "UNSAT")
        ),
        _share_of_unsat(pl.col("certificate") == "proof").alias("proof_share"),
        checked_share().alias("checked_share"),
    )
    for more in (_additionally_solved(runs, baselines), _fastest(marked)):
        rows = rows.join(more, on=BY_VARIANT, how="left")
    rows = rows.with_columns(pl.col("additionally_solved", "fastest").fill_null(0))
    counts = [name for name, kind in METRICS.columns.items() if kind == pl.Int64]
    rows = rows.with_columns(pl.col(counts).cast(pl.Int64)).select(list(METRICS.columns))
    return METRICS.validate(rows.sort("suite", "timeout_s", "par2", "variant_id"))


def known_truth(runs: pl.DataFrame) -> pl.DataFrame:
    """Return one row per suite and formula_sha: `truth`, "SAT" or "UNSAT", null if nothing proves either."""
    proven = (
        pl.when(pl.col("certificate") == "model")
        .then(pl.lit("SAT"))
        .when(pl.col("certificate") == "proof")
        .then(pl.lit("UNSAT"))
    )
    stated = pl.when(pl.col("expected").is_in(["SAT", "UNSAT"])).then(pl.col("expected"))
    return runs.group_by("suite", "formula_sha").agg(
        pl.coalesce(stated.drop_nulls().first(), proven.otherwise(None).drop_nulls().sort().first()).alias(
            "truth"
        )
    )


def proved(runs: pl.DataFrame) -> pl.DataFrame:
    """Return rows of RUNS in which nothing without a certificate is solved."""
    return runs.with_columns(solved=pl.col("solved") & pl.col("certificate").is_not_null())


def cost() -> pl.Expr:
    """Return a run's PAR-2 cost in cpu seconds."""
    return pl.when(pl.col("solved")).then(pl.col("cpu_s")).otherwise(PENALTY * pl.col("timeout_s"))


def checked_share() -> pl.Expr:
    """Of rows of RUNS: the share of UNSAT answers that were looked at, a float from 0 to 1; null without such
    answers."""
    return _share_of_unsat(pl.col("answer_checked"))


def _repeats() -> pl.Expr:
    return pl.len().over(*BY_VARIANT, "instance")


def _solved(where: pl.Expr) -> pl.Expr:
    """Formulas solved where a condition holds; each of a formula's repetitions counts its share."""
    return (1.0 / pl.col("repeats")).filter(pl.col("solved") & where).sum().cast(pl.Float64).round(9)


def _share_of_unsat(where: pl.Expr) -> pl.Expr:
    claimed = pl.col("answer") == "UNSAT"
    return pl.when(claimed.sum() > 0).then((claimed & where).sum() / claimed.sum())


def _fastest(marked: pl.DataFrame) -> pl.DataFrame:
    """On how many formulas each variant's mean cost is the least of all variants that ran it under the same
    limit, where it solves it at all."""
    place = ["suite", "timeout_s", "instance"]
    costs = marked.group_by(*BY_VARIANT, "instance").agg(pl.col("cost").mean(), pl.col("solved").any())
    best = costs.filter(pl.col("solved") & (pl.col("cost") == pl.col("cost").min().over(place)))
    return best.group_by(BY_VARIANT).agg(pl.len().cast(pl.Int64).alias("fastest"))


def _additionally_solved(runs: pl.DataFrame, baselines: Sequence[str]) -> pl.DataFrame:
    """Return how many formulas each variant solves at least once that no (other) baseline ever solves.
    Nothing to compare with: 0."""
    solved = runs.filter("solved").select(*BY_VARIANT, "instance").unique()
    by_baselines = solved.filter(pl.col("variant_id").is_in(list(baselines))).rename({"variant_id": "by"})
    measured = (
        runs.filter(pl.col("variant_id").is_in(list(baselines)))
        .select(pl.col("variant_id").alias("by"), "suite", "timeout_s")
        .unique()
    )
    rivals = (
        runs.select(BY_VARIANT)
        .unique()
        .join(measured, on=["suite", "timeout_s"])
        .filter(pl.col("by") != pl.col("variant_id"))
    )
    compared = rivals.select(BY_VARIANT).unique()
    beaten = (
        rivals.join(by_baselines, on=["by", "suite", "timeout_s"]).select(*BY_VARIANT, "instance").unique()
    )
    alone = solved.join(beaten, on=[*BY_VARIANT, "instance"], how="anti").join(
        compared, on=BY_VARIANT, how="semi"
    )
    return alone.group_by(BY_VARIANT).agg(pl.len().cast(pl.Int64).alias("additionally_solved"))


COUNTERS = ("conflicts", "decisions", "propagations", "restarts", "instructions")


def _status(row: dict[str, Any]) -> str:
    """Return the status of an evaluation of a row of RUNS."""
    if row["status"] == "wrong" or not row["answer"]:
        return row["status"]
    return "solved" if row["solved"] else "unsolved"


def evaluation_rows(runs: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows of EVALUATIONS for rows of RUNS. `seed` is the repetition: two runs of one formula are two
    rows."""
    return [
        {
            "artifact_id": row["variant_id"],
            "suite": row["suite"],
            "instance": row["instance"],
            "seed": row["repeat"],
            "status": _status(row),
            "cpu_s": row["cpu_s"],
            "wall_s": row["wall_s"],
            "peak_mb": row["peak_mb"],
            "counters": json.dumps({name: row[name] for name in COUNTERS if row[name] is not None}),
            "certificate": row["certificate"],
            "host": row["host"],
        }
        for row in runs.to_dicts()
    ]
