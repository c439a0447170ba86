"""A contest by costs of the same things, as processor seconds of solvers over formulas.

Decided by the logs of paired ratios: which is better, and by what factor on the typical formula (the
geometric mean). A challenger whose mean cost (the sum over all formulas, as PAR-2) is not lower never wins:
the two estimates answer different questions, and both are shown. The null is a geometric mean of 1. A cost
that a limit cut counts with its penalty on either side.

What so many formulas can show is known beforehand: see `power_sentence`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from evolake.contest.paired import (
    BETTER,
    ERROR,
    FLIPS_FROM,
    NOT_BETTER,
    Contest,
    grouped,
    least_for_flips,
    paired,
)

LEAST_FORMULAS = FLIPS_FROM
"""Formulas from which the contest may decide."""
SPREAD = 0.5
"""Standard deviation of the log of paired cost ratios for which power is stated."""
SEEN = 0.8
"""Share of contests in which a stated gain is seen."""
WORST_COSTS = 1.43
"""By how much more the log of a gain must be than in a normal test, as the worst formula counts twice:
simulated, within 10 % for 6 to 54 formulas."""
MEAN_NOT_LOWER = "undecided: better on the typical formula, but the mean cost is not lower"


def cost_ratio(
    champion: np.ndarray,
    challenger: np.ndarray,
    rng: np.random.Generator,
    looks: int = 1,
    groups: Sequence[Hashable] | None = None,
) -> Contest:
    """Return the contest by the geometric mean of champion / challenger: above 1 the challenger is better.

    The order of things does not matter.

    Args:
        champion, challenger: (n,) positive costs of the same n formulas, each summed over its shuffles and
            repeated passes.
        looks: how often the same contest may be looked at while it is measured; each look gets its share of
            the error (Bonferroni).
        groups: (n,) the family of each formula; formulas of one family count as one. None: each is its own.

    Raises:
        ValueError: unequal lengths, nothing, or a cost that is not positive and finite.
    """
    theirs, ours = np.asarray(champion, dtype=np.float64), np.asarray(challenger, dtype=np.float64)
    costs = np.concatenate([theirs.ravel(), ours.ravel()])
    if (
        theirs.shape != ours.shape
        or theirs.ndim != 1
        or not len(theirs)
        or not (np.isfinite(costs) & (costs > 0)).all()
    ):
        raise ValueError(
            f"wanted positive finite costs of the same things (got shapes {theirs.shape} and {ours.shape})"
        )
    error = ERROR / looks
    by_log = paired(np.log(theirs / ours), rng, error=error, groups=groups)
    least = least_for_flips(error)
    low, high, reason = by_log.low, by_log.high, by_log.reason
    if by_log.pairs < least:
        low, high = -math.inf, math.inf
        reason = f"{NOT_BETTER}: {by_log.pairs} formulas decide nothing, {least} may"
    elif low > 0 and theirs.sum() <= ours.sum():
        low, reason = 0.0, MEAN_NOT_LOWER
    elif high < 0 and theirs.sum() >= ours.sum():
        high = 0.0
    return Contest(
        math.exp(by_log.effect),
        math.exp(low),
        math.exp(high),
        by_log.pairs,
        f"{by_log.test}, of log costs",
        reason if reason != BETTER or low > 0 else NOT_BETTER,
        neutral=1.0,
        worst=math.exp(by_log.worst),
    )


def seen_ratio(formulas: int, spread: float = SPREAD, looks: int = 1) -> float:
    """Return an estimate of the smallest cost ratio that `SEEN` of contests of independent formulas see;
    infinite if so few decide nothing.

    spread: standard deviation of the log of a formula's cost ratio. looks: as of `cost_ratio`.
    """
    from scipy.special import ndtri

    error = ERROR / looks
    if formulas < least_for_flips(error):
        return math.inf
    return math.exp(WORST_COSTS * spread * (ndtri(1 - error) + ndtri(SEEN)) / math.sqrt(formulas))


def power_sentence(groups: Sequence[Hashable], looks: int = 1) -> str:
    """Return which gain a contest can show, to be said before it is held. groups, looks: as of
    `cost_ratio`."""
    formulas, least = len(groups), least_for_flips(ERROR / looks)
    units = len(grouped(np.zeros(formulas), groups, least)[0])
    if formulas < least:
        return f"{formulas} formulas decide nothing, {least} may"
    alike = (
        f" (from {seen_ratio(units, looks=looks):.3g} on if formulas of one family change alike)"
        if units < formulas
        else ""
    )
    return (
        f"{formulas} formulas show a cost ratio from {seen_ratio(formulas, looks=looks):.3g} on{alike} in "
        f"{100 * SEEN:g} % of duels, estimated for changes of a formula's log cost with standard deviation "
        f"{SPREAD:g}"
    )
