"""What the champion is worth on formulas that no role, rule or ranking has seen: its PAR-2 there against its
seed's, and what may be claimed of it.

The same contest as in a duel (evolake.solvers.measurement.duel) with one more guard, as the two sides' runs
may have been made in different cycles: the gain's lower end must be above the ratio that repeated passes of
the same solver stay within.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evolake.contest import LEAST_FORMULAS, LEVEL
from evolake.report.gain import counted, figures
from evolake.seeds import generator
from evolake.solvers.measurement.duel import formulas_of, par2_contest, repeat_noise_floor
from evolake.solvers.measurement.metrics import compute_metrics, cost
from evolake.solvers.tables import CLOCK
from evolake.stats import Interval

LEAST_COST_S = 1e-6


@dataclass(frozen=True)
class Holdout:
    """The comparison. gain: PAR-2 of the seed over the champion's with its interval; above 1 the champion is
    faster. passes: runs of each formula.

    units: formulas that count, shuffled copies with the one that they copy.
    metrics: rows of METRICS of all variants measured under the champion's limits. cycles: in which the two
    sides' runs were made.
    """

    formulas: int
    passes: int
    gain: Interval
    floor: float
    solved_champion: float
    solved_base: float
    cycles: tuple[str, ...]
    metrics: pl.DataFrame
    units: int


def holdout_metrics(holdout: pl.DataFrame, champion_id: str, baselines: list[str]) -> pl.DataFrame:
    """Return rows of METRICS of all variants whose holdout runs compare with the champion's newest ones (same
    suite and timeout); none without such runs."""
    return compute_metrics(_comparable(holdout, champion_id), baselines=baselines)


def _comparable(holdout: pl.DataFrame, champion_id: str) -> pl.DataFrame:
    """Return the runs of all variants on the suite and under the timeout of the champion's newest ones."""
    newest = (
        holdout.filter(pl.col("variant_id") == champion_id).sort("cycle").tail(1).select("suite", "timeout_s")
    )
    return holdout.join(newest, on=["suite", "timeout_s"], how="semi")


def compare_holdout(holdout: pl.DataFrame, champion_id: str, base_id: str, cycle: str) -> Holdout | None:
    """None where the champion is its own seed, or where one of the two has no runs under the champion's
    limits.

    Args:
        holdout: rows of HOLDOUT_RUNS. The contest is seeded by `cycle` and the champion, so that a page is
            the same every time.
    """
    metrics = holdout_metrics(holdout, champion_id, [base_id])
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    if champion_id == base_id or not {champion_id, base_id} <= measured.keys():
        return None
    runs = _comparable(holdout, champion_id).filter(pl.col("variant_id").is_in([champion_id, base_id]))
    runs = runs.filter(~(pl.col("status") == CLOCK).any().over("instance"))
    costs = _costs(runs, champion_id), _costs(runs, base_id)
    shared = sorted(costs[0].keys() & costs[1].keys())
    if not shared:
        return None
    passes = min(len(side[name]) for side in costs for name in shared)
    ours, theirs = (np.array([side[name][:passes] for name in shared]) for side in costs)
    rng = generator(0, "solvers", cycle, f"holdout of {champion_id}")
    contest = par2_contest(theirs, ours, formulas_of(runs.filter(pl.col("instance").is_in(shared))), rng)
    return Holdout(
        formulas=len(shared),
        passes=passes,
        gain=Interval(contest.effect, contest.low, contest.high, LEVEL),
        floor=repeat_noise_floor([ours, theirs]),
        solved_champion=measured[champion_id]["solved"],
        solved_base=measured[base_id]["solved"],
        cycles=tuple(sorted(set(runs["cycle"].to_list()))),
        metrics=metrics,
        units=contest.pairs,
    )


def claim(result: Holdout) -> str:
    """Return what may be said of the comparison. The first that holds."""
    low, high, estimate, floor = result.gain.low, result.gain.high, result.gain.estimate, result.floor
    if result.passes < 2:
        return "no claim: each formula was run once, so the noise of this host is not known"
    if result.solved_champion < result.solved_base:
        return "a loss: it solves fewer formulas than its seed"
    if result.units < LEAST_FORMULAS:
        return f"no claim: {counted(result.units, 'formula')} cannot decide, {LEAST_FORMULAS} may"
    if low > floor:
        return "a gain beyond the noise"
    if high < 1 / floor:
        return "a loss beyond the noise"
    if estimate > floor:
        return "no gain can be claimed: it rests on too few formulas"
    return (
        "no gain beyond the noise"
        if estimate >= 1 / floor
        else "slower than its seed, though on too few formulas to be sure"
    )


def holdout_sentence(result: Holdout | None, champion: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Return the comparison in words, plain text."""
    if champion["variant_id"] == base["variant_id"]:
        return "Holdout: the champion is an upstream solver itself, so there is nothing to compare it with."
    if result is None:
        return "Holdout: the champion and its seed have no runs under the same limits."
    apart = (
        f" Their runs were made in the cycles {' and '.join(result.cycles)}, not side by side."
        if len(result.cycles) > 1
        else ""
    )
    gain = str(result.gain) if result.units >= LEAST_FORMULAS else figures(result.gain.estimate)
    noise = f"noise floor {result.floor:.4g} from {result.passes} passes" if result.passes > 1 else "one pass"
    return (
        f"Holdout, {result.formulas} formulas that nothing in the evolution has seen: PAR-2 of the seed "
        f"{base['title']} over the champion's is {gain}, {noise}; solved {result.solved_champion:g} "
        f"against {result.solved_base:g}: {claim(result)}.{apart}"
    )


def _costs(runs: pl.DataFrame, variant_id: str) -> dict[str, list[float]]:
    """Return instance -> PAR-2 cost of each pass."""
    result: dict[str, list[float]] = {}
    side = runs.filter(pl.col("variant_id") == variant_id).sort("instance", "repeat")
    for instance, seconds in side.select("instance", cost().clip(lower_bound=LEAST_COST_S)).iter_rows():
        result.setdefault(instance, []).append(seconds)
    return result
