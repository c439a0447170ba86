"""Paired comparisons of the compute-matched arms: McNemar's exact test, Holm's correction, the odds ratio of
discordant pairs.

Two units are reported. `run`: every (problem, seed) is a pair, as the paper counts (McNemar 1947); the seeds
of one problem are not independent, so these p-values are optimistic. `problem`: a problem counts as solved by
an arm where more than half of its seeds solved it; the pairs are independent. Claims rest on `problem`.
Holm's family is all comparisons of one unit: six for the five arms of the paper, fifteen for all seven.

The odds ratio of matched pairs is only_first / only_second (conditional maximum likelihood); its exact
interval is Clopper and Pearson's (1934) of only_first among the discordant pairs, mapped by p / (1 - p). The
interval of the difference of solve rates is the paired bootstrap over problems.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import polars as pl

from evolake.repair.names import KNOWN_ARMS, ONE_SHOT
from evolake.repair.statistics.bootstrap import ratio_interval, stream
from evolake.stats import Interval, holm, mcnemar_exact

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
