"""Consensus objective: many objectives, one ranking of the designs.

Zhang, Sipling and Di Ventra 2026, section 4.2 and equations 2 and 3. Each objective votes with its ranks; its
weight is how much the others agree with it (median Kendall tau, never below 0), fading with its age; a meta
reviewer's multipliers come on top. Objectives that agree with none lose their voice without anybody naming
them.

The paper has no bound on clones: seven near-identical objectives agree with each other and outvote all
others. Here, of 20 or more designs, objectives whose rankings are nearly the same (tau of CLONE or more)
count as one: they share one weight, and neither count for each other's agreement nor more than once for that
of the others. With fewer designs, equal rankings are common among objectives that differ.

Choices the formulas leave open: a median over none (a single objective) is 0 and so the weights are uniform;
an objective that distinguishes no two designs has tau 0 with all others; designs whose consensus differs by
rounding alone (1e-12) tie, and a tie goes to the smaller artifact id.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.errors import InputError
from evolake.objectives.kendall import kendall_matrix, rank_rows

DECAY = 0.9
SAME = 1e-12
CLONE, CLONES_FROM = 0.98, 20


@dataclass(frozen=True)
class Consensus:
    """The ranking of n designs by K objectives.

    weights: (K,) float, sum to 1. median_tau: (K,) float in [-1, 1]. tau: (K, K) float.
    consensus: (n,) float in [0, 1], lower is better. order: (n,) int, positions of the designs, best first;
    total and stable.
    """

    weights: np.ndarray
    median_tau: np.ndarray
    tau: np.ndarray
    consensus: np.ndarray
    order: np.ndarray


def aggregate(
    scores: np.ndarray,
    created: Sequence[int] | np.ndarray,
    now: int,
    decay: float = DECAY,
    multipliers: Sequence[float] | np.ndarray | None = None,
    ids: Sequence[int] | Sequence[str] | None = None,
) -> Consensus:
    """Return consensus of K objectives over n designs.

    Args:
        scores: (K, n) float, lower is better; NaN and None count as +inf.
        created: (K,) creation round of each objective; now: the current round.
        decay: weight left after one round, in (0, 1].
        multipliers: (K,) non-negative, from the meta review; None means 1 for all. All zero: the weights stay
            as they are.
        ids: (n,) artifact ids that break ties, all of one sortable type; None means the position.

    Raises:
        InputError: shapes that do not fit, nothing to rank, an objective from the future, a multiplier or
            decay out of range.
    """
    table = _score_table(scores)
    k, n = table.shape
    age = _ages(created, now, k)
    factor = _multipliers(multipliers, k)
    if not 0 < decay <= 1:
        raise InputError(
            "the age decay cannot be used", wanted="a number above 0 and at most 1", got=repr(decay)
        )
    if ids is not None and len(ids) != n:
        raise InputError(
            "the artifact ids do not fit the scores", wanted=f"{n} ids, one per design", got=str(len(ids))
        )
    ranks = rank_rows(table)
    tau = kendall_matrix(ranks)
    alike = np.eye(k, dtype=bool) | ((tau >= CLONE) & (n >= CLONES_FROM))
    share = 1 / alike.sum(axis=1)
    median_tau = _median_of_others(tau, alike, share)
    weights = objective_weights(median_tau, age, decay, factor, share)
    consensus = _weighted_sum(weights, ranks.average) / max(n - 1, 1)
    np.clip(consensus, 0.0, 1.0, out=consensus)
    return Consensus(
        weights=weights,
        median_tau=median_tau,
        tau=tau,
        consensus=consensus,
        order=total_order(consensus, ids),
    )


def objective_weights(
    median_tau: np.ndarray,
    age: np.ndarray,
    decay: float,
    multipliers: np.ndarray,
    share: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Return weights, (K,) float, sum to 1: agreement times decay**age times the share of an objective in its
    group of clones, uniform if all vanish; then times the multipliers unless that makes all vanish.

    Ages count from the youngest objective with a voice: that changes no weight, and keeps very old portfolios
    from fading to nothing together.
    """
    agreement = np.maximum(median_tau, 0.0) * share
    voiced = agreement > 0
    weights = np.ones(len(agreement))
    if voiced.any():
        weights = np.where(voiced, agreement * decay ** np.where(voiced, age - age[voiced].min(), 0.0), 0.0)
    weights = weights / math.fsum(weights)
    largest = multipliers.max()
    adjusted = weights * (multipliers / largest) if largest > 0 else np.zeros_like(weights)
    total = math.fsum(adjusted)
    return adjusted / total if total > 0 else weights


def total_order(consensus: np.ndarray, ids: Sequence[int] | Sequence[str] | None = None) -> np.ndarray:
    """Return positions of the designs, (n,) int, best first. Runs of values less than 1e-12 apart are ties,
    in the order of `ids` (default: position)."""
    ascending = np.argsort(consensus, kind="stable")
    group = np.empty(len(consensus), dtype=np.int64)
    group[ascending] = np.concatenate([[0], np.cumsum(np.diff(consensus[ascending]) > SAME)])
    place = np.arange(len(consensus))
    if ids is not None:
        place[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return np.lexsort((place, group))


def _score_table(scores: np.ndarray) -> np.ndarray:
    try:
        table = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "the scores are not a table of numbers", wanted="K rows of n numbers", got=repr(scores)[:200]
        ) from None
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(
            "there is nothing to rank",
            wanted="scores of at least one objective and one design",
            got=f"shape {table.shape}",
        )
    table[np.isnan(table)] = np.inf
    return table


def _ages(created: Sequence[int] | np.ndarray, now: int, k: int) -> np.ndarray:
    rounds = np.asarray(created, dtype=np.float64)
    if rounds.shape != (k,):
        raise InputError(
            "the creation rounds do not fit the scores",
            wanted=f"{k} rounds, one per objective",
            got=f"shape {rounds.shape}",
        )
    if not np.isfinite(rounds).all() or not math.isfinite(now):
        raise InputError(
            "a creation round is not a number", wanted="finite numbers", got=repr(rounds.tolist())[:200]
        )
    if (rounds > now).any():
        late = int(np.argmax(rounds > now))
        raise InputError(
            f"objective {late} was created after the current round",
            wanted=f"a creation round of at most {now}",
            got=f"{rounds[late]:g}",
            do="give the round these scores belong to",
        )
    return now - rounds


def _multipliers(multipliers: Sequence[float] | np.ndarray | None, k: int) -> np.ndarray:
    if multipliers is None:
        return np.ones(k)
    factor = np.asarray(multipliers, dtype=np.float64)
    if factor.shape != (k,):
        raise InputError(
            "the multipliers do not fit the scores",
            wanted=f"{k} multipliers, one per objective",
            got=f"shape {factor.shape}",
        )
    if not (np.isfinite(factor) & (factor >= 0)).all():
        bad = int(np.argmin(np.isfinite(factor) & (factor >= 0)))
        raise InputError(
            f"the multiplier of objective {bad} cannot be used",
            wanted="a finite number of at least 0",
            got=f"{factor[bad]}",
        )
    return factor


def _median_of_others(tau: np.ndarray, alike: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the median tau with the objectives that are not alike, each counting as much as its share; 0 if
    there are none."""
    return np.array([_weighted_median(row[~own], share[~own]) for row, own in zip(tau, alike, strict=True)])


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / math.fsum(weights)
    low, high = np.searchsorted(below, [0.5 - SAME, 0.5 + SAME])
    return float(np.mean(values[order][[low, min(high, len(values) - 1)]]))


def _weighted_sum(weights: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Sum over objectives, (n,). Terms are added smallest first, so that no order of the objectives changes a
    bit of the result."""
    return np.add.reduce(np.sort(weights[:, None] * ranks, axis=0), axis=0)
