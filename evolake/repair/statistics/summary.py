"""Metrics of each arm: solve rate, certification by kind of problem, what a certified solve costs, and how
fast rounds converge.

A run is one problem under one arm and one seed. A solve is a run whose answer was certified and agrees with
the problem's certified label. Prices are sums over all runs, solved or not, divided by the number of solves:
what was spent without effect counts. Wilson intervals take runs as independent; bootstrap intervals resample
problems with all their runs (see `bootstrap`) and are the ones to quote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evolake.repair.statistics.bootstrap import ratio_interval, stream
from evolake.repair.statistics.groups import groups
from evolake.stats import wilson_interval

WHERE = ("suite", "variation", "arm")


def summary_rows(results: pl.DataFrame, labels: Mapping[str, str], root_seed: int) -> list[dict[str, Any]]:
    """Return rows of SUMMARY. `labels`: problem_id -> "sat" or "unsat"."""
    labelled = results.with_columns(label=pl.col("problem_id").replace_strict(labels, return_dtype=pl.String))
    return [
        dict(zip(WHERE, key, strict=True)) | _metrics(runs, key, root_seed)
        for key, runs in groups(labelled, *WHERE)
    ]


def convergence_rows(results: pl.DataFrame, rounds: int, root_seed: int) -> list[dict[str, Any]]:
    """Return rows of CONVERGENCE: the share of runs solved by the end of each round 1..`rounds`; one_shot has
    one round and stays where it is."""
    rows = []
    for key, runs in groups(results, *WHERE):
        for number in range(1, rounds + 1):
            by_then = runs.with_columns(solved=pl.col("solved") & (pl.col("rounds") <= number))
            result = share(by_then, root_seed, *key, "round", str(number))
            rows.append(
                dict(zip(WHERE, key, strict=True))
                | {"round": number, "runs": runs.height, "solved": by_then["solved"].sum()}
                | result
            )
    return rows


def effort_rows(results: pl.DataFrame, budget: int) -> list[dict[str, Any]]:
    """Return rows of EFFORT: the share of runs whose first certified answer came with at most so many calls,
    1..`budget`."""
    rows = []
    for key, runs in groups(results, *WHERE):
        firsts = runs.filter("solved")["first_certified_call"]
        for calls in range(1, budget + 1):
            solved = int((firsts <= calls).sum())
            where = dict(zip(WHERE, key, strict=True))
            rows.append(
                where | {"calls": calls, "runs": runs.height, "solved": solved, "rate": solved / runs.height}
            )
    return rows


def frontier_rows(results: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows of FRONTIER: solve rate against mean solver calls per run. An arm is dominated by one that
    solves as much or more with as many calls or fewer, and is better in one of the two."""
    means = results.group_by(*WHERE).agg(
        mean_calls=pl.col("calls").mean(),
        mean_solver_calls=pl.col("solver_calls").mean(),
        rate=pl.col("solved").mean(),
    )
    rows = []
    for (suite, variation, arm), result in groups(means, *WHERE):
        mine = result.to_dicts()[0]
        rivals = (
            means.filter((pl.col("suite") == suite) & (pl.col("variation") == variation))
            .sort("arm")
            .to_dicts()
        )
        better = [rival["arm"] for rival in rivals if _dominates(rival, mine)]
        rows.append(mine | {"arm": arm, "on_frontier": not better, "dominated_by": better})
    return rows


def share(runs: pl.DataFrame, root_seed: int, *purpose: str) -> dict[str, float]:
    """Return rate of `solved` with both intervals."""
    solved = int(runs["solved"].sum())
    by_problem = _by_problem(runs, "solved")
    drawn = ratio_interval(
        by_problem["above"].to_numpy(), by_problem["runs"].to_numpy(), stream(root_seed, *purpose)
    )
    wilson = wilson_interval(solved, runs.height)
    return {
        "rate": wilson.estimate,
        "wilson_low": wilson.low,
        "wilson_high": wilson.high,
        "bootstrap_low": drawn.low,
        "bootstrap_high": drawn.high,
    }


def _metrics(runs: pl.DataFrame, key: Sequence[str], root_seed: int) -> dict[str, Any]:
    solved = runs.filter("solved")
    row: dict[str, Any] = {
        "backend": runs["backend"][0],
        "model": runs["model"][0],
        "problems": runs["problem_id"].n_unique(),
        "seeds": runs["seed"].n_unique(),
        "runs": runs.height,
        "solved": solved.height,
        **share(runs, root_seed, *key, "solved"),
        "median_first_certified_call": solved["first_certified_call"].median(),
        "budget_exceeded": runs["budget_exceeded"].sum(),
        "parse_failures": runs["parse_failures"].sum(),
        "input_tokens": runs["input_tokens"].sum(),
        "output_tokens": runs["output_tokens"].sum(),
        "latency_mean_s": runs["latency_s"].mean(),
        "latency_median_s": runs["latency_s"].median(),
        "latency_p95_s": runs["latency_s"].quantile(0.95, interpolation="linear"),
        "cpu_mean_s": runs["cpu_s"].mean(),
    }
    for label in ("sat", "unsat"):
        row |= _of_label(runs.filter(pl.col("label") == label), label)
    for what in ("calls", "solver_calls"):
        row |= {what: runs[what].sum()} | _price(runs, what, key, root_seed)
    return row


def _of_label(runs: pl.DataFrame, label: str) -> dict[str, Any]:
    """Certified runs of the problems with this label; no rate if there are none."""
    certified = int(runs["solved"].sum())
    row: dict[str, Any] = {f"{label}_runs": runs.height, f"{label}_certified": certified}
    if not runs.height:
        return row
    result = wilson_interval(certified, runs.height)
    return row | {f"{label}_rate": result.estimate, f"{label}_low": result.low, f"{label}_high": result.high}


def _price(runs: pl.DataFrame, what: str, key: Sequence[str], root_seed: int) -> dict[str, float | None]:
    """Sum of `what` over all runs a solve, with its bootstrap interval; null if nothing was solved."""
    name = f"{what}_per_solve"
    if not runs["solved"].any():
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    sums = (
        runs.group_by("problem_id")
        .agg(above=pl.col(what).sum(), below=pl.col("solved").sum())
        .sort("problem_id")
    )
    result = ratio_interval(sums["above"].to_numpy(), sums["below"].to_numpy(), stream(root_seed, *key, what))
    return {name: result.estimate, f"{name}_low": result.low, f"{name}_high": result.high}


def _by_problem(runs: pl.DataFrame, column: str) -> pl.DataFrame:
    return runs.group_by("problem_id").agg(above=pl.col(column).sum(), runs=pl.len()).sort("problem_id")


def _dominates(rival: Mapping[str, Any], mine: Mapping[str, Any]) -> bool:
    fewer, more = rival["mean_solver_calls"] - mine["mean_solver_calls"], rival["rate"] - mine["rate"]
    return fewer <= 0 and more >= 0 and (fewer < 0 or more > 0)
