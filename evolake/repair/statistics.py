"""Measure each arm: solve rate, certification by kind of problem, what a certified solve costs, how fast
rounds converge, and what re-encoding the problems changes; and compare the compute-matched arms in pairs.

A run is one problem under one arm and one seed. A solve is a run whose answer was certified and agrees with
the problem's certified label. Prices are sums over all runs, solved or not, divided by the number of solves:
what was spent without effect counts.

The runs of one problem under several seeds are not independent: a hard problem is hard for every seed. So
Wilson intervals, which take runs as independent, are too narrow; the ones to quote are bootstrap intervals
(Efron 1979; the cluster form of Davison and Hinkley 1997, section 3.8), which draw problems with replacement,
each with all its runs (`ratio_interval`).

Comparisons use McNemar's exact test, Holm's correction and the odds ratio of discordant pairs, in two units.
`run`: every (problem, seed) is a pair, as the paper counts (McNemar 1947); these p-values are optimistic.
`problem`: an arm solved a problem if more than half of its seeds did; these pairs are independent, and claims
rest on them. Holm's family is all comparisons of one unit: six for the five arms of the paper. The odds ratio
is only_first / only_second (conditional maximum likelihood); its exact interval is Clopper and Pearson's
(1934) of only_first among the discordant pairs, mapped by p / (1 - p). The interval of the difference of
solve rates is the paired bootstrap over problems.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from evolake.repair.names import KNOWN_ARMS, ONE_SHOT
from evolake.repair.tables import VARIATIONS
from evolake.seeds import generator
from evolake.stats import Interval, holm, mcnemar_exact, wilson_interval

RESAMPLES = 4000
CHUNK_VALUES = 2_000_000
EVERY_CELL = "study"


def ratio_interval(
    numerators: Sequence[float] | np.ndarray,
    denominators: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return interval of sum(numerators) / sum(denominators), problems resampled.

    Args:
        numerators, denominators: (n,) finite floats, one per problem, n >= 1; denominators not negative. A
            resample whose denominators sum to zero counts as +inf (nothing was solved, so a solve has no
            price), as does the estimate.

    Raises:
        ValueError: no problem, unequal lengths, or a value that is not finite or negative below the line.
    """
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if above.ndim != 1 or above.shape != below.shape or not len(above):
        raise ValueError(
            f"wanted two lists of equal length, at least one problem (got shapes {above.shape} and "
            f"{below.shape})"
        )
    if not (np.isfinite(above) & np.isfinite(below) & (below >= 0)).all():
        raise ValueError("sums of a problem must be finite, and those below the line not negative")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1 (got {level})")
    at_once = max(1, CHUNK_VALUES // len(above))
    parts = []
    for done in range(0, resamples, at_once):
        drawn = rng.integers(len(above), size=(min(at_once, resamples - done), len(above)))
        parts.append(_ratio(above[drawn].sum(axis=-1), below[drawn].sum(axis=-1)))
    ends = np.quantile(
        np.concatenate(parts), [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"
    )  # no interpolation: inf - inf is no number
    return Interval(float(_ratio(above.sum(), below.sum())), float(ends[0]), float(ends[1]), level)


def stream(root_seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator of one interval: keyed by what it is an interval of, so that adding another shifts
    none."""
    return generator(root_seed, "repair", EVERY_CELL, "bootstrap:" + ":".join(purpose))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / np.where(below > 0, below, 1), np.inf)


UNITS = ("run", "problem")


def compare_arms(results: pl.DataFrame, root_seed: int) -> list[dict[str, Any]]:
    """Return rows of COMPARISONS for one suite and variation: every two compute-matched arms that are there,
    the later of KNOWN_ARMS first.

    Args:
        results: rows of RESULTS of one suite and variation; every arm with the same (problem, seed) pairs.
    """
    arms = [arm for arm in reversed(KNOWN_ARMS) if arm != ONE_SHOT and arm in set(results["arm"])]
    rows = []
    for unit in UNITS:
        table = solved_by_arm(results, unit)
        result = [_compare(table, unit, first, second, root_seed) for first, second in combinations(arms, 2)]
        adjusted = holm([row["p_value"] for row in result])
        rows += [row | {"p_holm": p} for row, p in zip(result, adjusted, strict=True)]
    where = results.select("suite", "variation").unique().to_dicts()
    return [where[0] | row for row in rows] if rows else []


def solved_by_arm(results: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return one row per unit, one Boolean column per arm (next to `problem_id` and, for runs, `seed`)."""
    if unit == "run":
        return results.pivot("arm", index=["problem_id", "seed"], values="solved", maintain_order=True).sort(
            "problem_id", "seed"
        )
    majority = results.group_by("problem_id", "arm").agg(solved=pl.col("solved").mean() > 0.5)
    return majority.sort("problem_id", "arm").pivot(
        "arm", index="problem_id", values="solved", maintain_order=True
    )


def odds_ratio(only_first: int, only_second: int, level: float = 0.95) -> Interval | None:
    """Return odds ratio of discordant pairs with its exact interval; None if no pair is discordant (it is
    undefined)."""
    from scipy.special import betaincinv

    total = only_first + only_second
    if total == 0:
        return None
    tail = (1 - level) / 2
    low = float(betaincinv(only_first, only_second + 1, tail)) if only_first else 0.0
    high = float(betaincinv(only_first + 1, only_second, 1 - tail)) if only_second else 1.0
    return Interval(only_first / only_second if only_second else math.inf, _odds(low), _odds(high), level)


def _odds(share: float) -> float:
    return math.inf if share >= 1 else share / (1 - share)


def _compare(table: pl.DataFrame, unit: str, first: str, second: str, root_seed: int) -> dict[str, Any]:
    a, b = pl.col(first), pl.col(second)
    counts = table.select(
        both=(a & b).sum(), only_first=(a & ~b).sum(), only_second=(~a & b).sum(), neither=(~a & ~b).sum()
    ).row(0, named=True)
    moved = (
        table.group_by("problem_id")
        .agg(above=(a.cast(pl.Int64) - b.cast(pl.Int64)).sum(), below=pl.len())
        .sort("problem_id")
    )
    difference = ratio_interval(
        moved["above"].to_numpy(),
        moved["below"].to_numpy(),
        stream(root_seed, "difference", unit, first, second),
    )
    odds = odds_ratio(counts["only_first"], counts["only_second"])
    return {
        "unit": unit,
        "first": first,
        "second": second,
        "pairs": table.height,
        **counts,
        "difference": difference.estimate,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "odds_ratio": odds.estimate if odds else None,
        "odds_low": odds.low if odds else None,
        "odds_high": odds.high if odds else None,
        "p_value": mcnemar_exact(counts["only_first"], counts["only_second"]),
    }


def groups(frame: pl.DataFrame, *names: str) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Return (values of `names`, their rows), sorted; arms in the order of KNOWN_ARMS, variations in that of
    VARIATIONS."""
    order = {"arm": KNOWN_ARMS.index, "variation": VARIATIONS.index}
    result = frame.group_by(*names, maintain_order=True)
    return sorted(
        result,
        key=lambda item: [
            order.get(name, lambda value: value)(value) for name, value in zip(names, item[0], strict=True)
        ],
    )


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


def robustness_rows(
    before: pl.DataFrame, after: pl.DataFrame, base_ids: Mapping[str, str], root_seed: int
) -> list[dict[str, Any]]:
    """Return rows of ROBUSTNESS: what a perturbation did to each arm's solve rate, every perturbed run paired
    with that of the problem it was made from.

    Args:
        before, after: rows of RESULTS, of the unperturbed and of the perturbed problems. base_ids: perturbed
            problem -> the problem it was made from.

    Raises:
        ValueError: a perturbed run has no unperturbed one to be paired with.
    """
    origin = pl.DataFrame(
        {"problem_id": list(base_ids), "base_id": list(base_ids.values())},
        schema={"problem_id": pl.String, "base_id": pl.String},
    )
    base = before.select("arm", "seed", base_id="problem_id", was=pl.col("solved"))
    pairs = after.join(origin, on="problem_id", how="left").join(
        base, on=["arm", "seed", "base_id"], how="left", maintain_order="left"
    )
    if pairs["was"].null_count():
        raise ValueError(
            f"{pairs['was'].null_count()} of {pairs.height} perturbed runs have no run of the problem "
            "they were made from"
        )
    rows = []
    for (suite, variation, arm), result in groups(pairs, "suite", "variation", "arm"):
        moved = pl.col("solved").cast(pl.Int64) - pl.col("was").cast(pl.Int64)
        sums = result.group_by("base_id").agg(above=moved.sum(), below=pl.len()).sort("base_id")
        delta = ratio_interval(
            sums["above"].to_numpy(),
            sums["below"].to_numpy(),
            stream(root_seed, "robustness", variation, arm),
        )
        rows.append(
            {
                "suite": suite,
                "variation": variation,
                "arm": arm,
                "problems": sums.height,
                "pairs": result.height,
                "rate_before": float(result["was"].cast(pl.Float64).sum() / result.height),
                "rate_after": float(result["solved"].cast(pl.Float64).sum() / result.height),
                "gained": result.filter(pl.col("solved") & ~pl.col("was")).height,
                "lost": result.filter(~pl.col("solved") & pl.col("was")).height,
                "delta": delta.estimate,
                "delta_low": delta.low,
                "delta_high": delta.high,
            }
        )
    return rows
