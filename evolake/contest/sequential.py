"""Stop a contest early if its outcome is clear: after each pair if the challenger cannot win, after seven
pairs if it won all of them.

Stopping a challenger that is behind never promotes one, so it costs no error. Stopping for a win does: the
look after seven pairs spends 2^-7 (0.8 %) of the 2.5 %, and the test of all pairs may spend what is left.
Both are exact: they count sign flips of the pairs together, in the order in which the pairs were measured
(alpha spending, Lan and DeMets 1983, with a permutation test).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from evolake.contest.paired import (
    BETTER,
    ERROR,
    EXACT,
    FLIPS_FROM,
    NOT_BETTER,
    SNAP,
    WORST_AGAIN,
    Contest,
    flip_p,
    paired,
    snapped,
)

Progress = Literal["wins", "cannot win", "open"]
LEAST_PAIRS = 3
"""Pairs before the first look."""
LOOK = 7
"""Pairs after which a challenger that won all of them has won. The look spends less than a third of the
error."""


def looks(most: int) -> list[int]:
    """Return the numbers of pairs after which to look, if up to `most` are measured: at the first, before the
    look for a win, and at the end."""
    return sorted({min(LEAST_PAIRS, most), *([LOOK] if _early(most) else []), most})


def progress(differences: Sequence[float] | np.ndarray, most: int) -> Progress:
    """Return how a contest of `most` pairs is after the first ones. A challenger that is not ahead after
    three pairs is given up.

    Args:
        differences: (k,) how much better the challenger was in each pair so far, in the order of measurement,
            k <= most.
    """
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    if n >= most:
        return "wins" if sequential(values, most, np.random.default_rng(0)).wins else "cannot win"
    if _early(most) and n >= LOOK and (values[:LOOK] > 0).all():
        return "wins"
    if n < LEAST_PAIRS:
        return "open"
    # However the pairs to come turn out, the p-value of all cannot be smaller than this.
    hopeless = (
        most >= FLIPS_FROM
        and most - FLIPS_FROM < n <= EXACT
        and flip_p(values, np.random.default_rng(0)) * 2.0 ** (n - most) > ERROR
    )
    return "cannot win" if values.mean() <= 0 or hopeless else "open"


def sequential(differences: Sequence[float] | np.ndarray, most: int, rng: np.random.Generator) -> Contest:
    """Return the contest of pairs in the order of measurement, of which up to `most` were to be measured; see
    `progress` for when it stopped.

    Raises:
        ValueError: more differences than `most`, none, or one that is not finite.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) > most:
        raise ValueError(f"a contest of up to {most} pairs got {len(values)}")
    whole = paired(values, rng)
    if not _early(most) or len(values) < LOOK:
        cut = len(values) < most and whole.low > 0
        return _held(whole, "the pairs that were to decide are not all measured") if cut else whole
    if (values[:LOOK] > 0).all():
        first = paired(values[:LOOK], rng)
        return first if len(values) == LOOK else replace(whole, low=max(whole.low, first.low), reason=BETTER)
    if len(values) < most:
        return _held(whole, "the pairs that were to decide are not all measured") if whole.low > 0 else whole
    low = min(_end(values), _end(np.append(values, values.min())))
    high = -min(_end(-values), _end(np.append(-values, -values.max())))
    size = float(np.abs(values).max())
    low, high = snapped(low, 0.0, size), snapped(high, 0.0, size)
    lost = WORST_AGAIN if _end(values) > 0 else NOT_BETTER
    return Contest(
        whole.effect,
        low,
        high,
        whole.pairs,
        f"{whole.test}, with a look after {LOOK}",
        BETTER if low > 0 else lost,
        worst=whole.worst,
    )


def _held(contest: Contest, why: str) -> Contest:
    return replace(contest, low=min(contest.low, 0.0), reason=f"{NOT_BETTER}: {why}")


def _early(most: int) -> bool:
    """Return whether there is a look for a win before the end: enough pairs that the look leaves error for
    the end, few enough to count all flips."""
    return LOOK < most <= EXACT


def _end(values: np.ndarray) -> float:
    """Return the largest r such that "better by at most r" is rejected at the end, given that the look did
    not stop the contest."""
    points = np.unique(np.concatenate([values, [values.min() - np.ptp(values) - 1.0, values.mean()]]))
    low, high = float(points[0]), float(values.mean())
    if not _rejected(values - low):
        return -np.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _rejected(values - middle) else (low, middle)
    return low


def _rejected(values: np.ndarray) -> bool:
    """Return whether the whole procedure rejects "no better": at the look or at the end, at ERROR
    together."""
    if (values[:LOOK] > 0).all():
        return True
    n = len(values)
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    spent = (signs[:, :LOOK] * values[:LOOK] > 0).all(axis=1)
    seen = values.sum() - SNAP * float(np.abs(values).sum())
    return bool(np.count_nonzero(spent | (signs @ values >= seen)) <= int(ERROR * 2**n))
