"""How a champion carries over: it and every seed on the suite that it was bred on and on another one, side by
side.

SATLUTION breeds on the formulas of one competition and shows the next one's (its section 4). Here the two
suites are measured in one go, under the same limits, and every figure that a claim could rest on has a
bootstrap interval over the formulas of its suite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evolake.contest import LEAST_FORMULAS
from evolake.seeds import generator
from evolake.solvers.measurement.duel import formulas_of, par2_contest, repeat_noise_floor
from evolake.solvers.measurement.metrics import compute_metrics, cost, known_truth, proved
from evolake.solvers.tables import CLOCK, TRANSFER
from evolake.stats import Interval, bootstrap_interval

LEVEL = 0.95
LEAST_COST_S = 1e-6
TRUTHS = {"solved": None, "solved_sat": "SAT", "solved_unsat": "UNSAT"}
"""Column -> which formulas it counts; None: all."""


@dataclass(frozen=True)
class Entrant:
    """A solver of the comparison. role: champion, variant or seed."""

    title: str
    variant_id: str
    role: str


def transfer_rows(runs: pl.DataFrame, entrants: Sequence[Entrant], parts: Mapping[str, str]) -> pl.DataFrame:
    """Return rows of TRANSFER, suite by suite, solvers in the order given. Only formulas that every solver
    has run count.

    Args:
        runs: rows of RUNS of all entrants. entrants: the one that the others are compared with first. parts:
            "from" and "to" -> name of the suite.
    """
    rows = []
    for part, suite in parts.items():
        mine = _shared(runs.filter(pl.col("suite") == suite), len(entrants))
        if mine.is_empty():
            continue
        metrics = {row["variant_id"]: row for row in compute_metrics(mine).to_dicts()}
        costs = {entrant.variant_id: _costs(mine, entrant.variant_id) for entrant in entrants}
        first, share = (
            costs[entrants[0].variant_id],
            _shares([costs[entrant.variant_id] for entrant in entrants], _solved_by_anyone(mine)),
        )
        for place, item in enumerate(entrants):
            own, known = costs[item.variant_id], metrics[item.variant_id]
            rng = generator(0, "solvers", suite, f"transfer of {item.variant_id}")
            par2, gain = _interval(own, rng), _gain(first, own, formulas_of(mine), rng) if place else None
            vbs = bootstrap_interval(share[:, place], rng, level=LEVEL) if len(share) else None
            names = (
                *TRUTHS,
                "checked_share",
                "proof_share",
                "par2_sat",
                "par2_unsat",
                "memory_mean_mb",
                "memory_max_mb",
                "timeout_s",
            )
            rows.append(
                {
                    "suite": suite,
                    "part": part,
                    "solver": item.title,
                    "role": item.role,
                    "variant_id": item.variant_id,
                    "instances": len(own),
                    **{name: known[name] for name in names},
                    **_solved_ends(mine, item.variant_id),
                    "par2": par2.estimate,
                    "par2_low": par2.low,
                    "par2_high": par2.high,
                    **_ends("vbs", "share", vbs),
                    **_ends("gain", "", gain),
                    "noise_floor": repeat_noise_floor([first, own]) if own.shape[1] > 1 else None,
                }
            )
    return TRANSFER.frame(rows)


def claim(row: Mapping[str, float | None]) -> str:
    """Return what may be said of one row's gain."""
    low, high, floor = row["gain_low"], row["gain_high"], row["noise_floor"] or 1.0
    if row["gain"] is None:
        return ""
    if low is None or high is None:
        return f"no claim: fewer than {LEAST_FORMULAS} formulas decide nothing"
    if low > floor:
        word = "faster"
    elif high < 1 / floor:
        word = "slower"
    else:
        word = "no difference beyond the noise"
    return word if row["noise_floor"] else f"{word} (one pass: the noise of this host is not known)"


def _shared(runs: pl.DataFrame, solvers: int) -> pl.DataFrame:
    """Return runs of the formulas on which all solvers have as many results as the others; none that the
    clock cut short."""
    runs = runs.filter(~(pl.col("status") == CLOCK).any().over("instance"))
    each = runs.group_by("instance", "variant_id").len()
    counts = each.group_by("instance").agg(pl.len().alias("solvers"), pl.col("len").n_unique().alias("sizes"))
    whole = counts.filter((pl.col("solvers") == solvers) & (pl.col("sizes") == 1))["instance"]
    return runs.filter(pl.col("instance").is_in(whole.to_list()))


def _costs(runs: pl.DataFrame, variant_id: str) -> np.ndarray:
    """(formulas, passes) PAR-2 costs, formulas in order of their names."""
    side = (
        runs.filter(pl.col("variant_id") == variant_id)
        .sort("instance", "repeat")
        .select("instance", cost().clip(LEAST_COST_S).alias("cost"))
    )
    return side["cost"].to_numpy().reshape(side["instance"].n_unique(), -1)


def _solved_by_anyone(runs: pl.DataFrame) -> np.ndarray:
    return runs.group_by("instance").agg(pl.col("solved").any()).sort("instance")["solved"].to_numpy()


def _solved_ends(runs: pl.DataFrame, variant_id: str) -> dict[str, float | None]:
    """Return the ends of the intervals of formulas solved, all and by their known truth: formulas of each
    kind are resampled, their number is kept."""
    each = (
        proved(runs)
        .join(known_truth(runs), on=["suite", "formula_sha"])
        .filter(pl.col("variant_id") == variant_id)
    )
    shares = each.group_by("instance").agg(pl.col("solved").mean(), pl.col("truth").first()).sort("instance")
    ends: dict[str, float | None] = {}
    for name, truth in TRUTHS.items():
        own = (shares if truth is None else shares.filter(pl.col("truth") == truth))["solved"].to_numpy()
        rng = generator(0, "solvers", str(runs["suite"][0]), f"{name} of {variant_id}")
        result = bootstrap_interval(own, rng, statistic=_total, level=LEVEL) if len(own) else None
        ends |= {
            f"{name}_low": result and round(result.low, 9),
            f"{name}_high": result and round(result.high, 9),
        }
    return ends


def _total(samples: np.ndarray) -> np.ndarray:
    return samples.sum(axis=-1)


def _shares(costs: Sequence[np.ndarray], solved: np.ndarray) -> np.ndarray:
    """(formulas that anyone solved, solvers): 1 divided among the fastest."""
    means = np.stack([side.mean(axis=1) for side in costs], axis=1)[solved]
    best = means == means.min(axis=1, keepdims=True) if len(means) else np.zeros(means.shape, dtype=bool)
    return best / best.sum(axis=1, keepdims=True) if len(means) else best.astype(float)


def _interval(costs: np.ndarray, rng: np.random.Generator) -> Interval:
    return bootstrap_interval(costs.mean(axis=1), rng, level=LEVEL)


def _gain(first: np.ndarray, other: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> Interval:
    contest = par2_contest(other, first, groups, rng)
    return Interval(contest.effect, contest.low, contest.high, LEVEL)


def _ends(name: str, estimate: str, result: Interval | None) -> dict[str, float | None]:
    whole = f"{name}_{estimate}" if estimate else name
    bounded = result if result and math.isfinite(result.high) else None
    return {
        whole: result and result.estimate,
        f"{name}_low": bounded and bounded.low,
        f"{name}_high": bounded and bounded.high,
    }
