"""A contest by the ratio of two mean costs over the same things, as PAR-2 over formulas is.

The null includes rivals that help some formulas and hurt others, as long as the means are equal. Differences
are not symmetric then, and no test that is exact for symmetric ones keeps its level: at a nominal 2.5 % the t
test promotes 4 to 6 % if every cost is multiplied by a log-normal factor of mean 1 and standard deviation
0.5, with 8 to 54 formulas; the bootstrap-t 2 to 10 %, sign flips 5 to 7 %. So three tests must agree, each at
a nominal 0.75 %, which simulations bring to 1 to 2.5 %: sign flips, Student's t, and Hall's t (J. R. Stat.
Soc. B 54, 1992), which adjusts for skewness.

Hall's t is Johnson's (JASA 1978) with a cubic term that keeps it monotone. It guards against losses on
formulas that were not drawn, which those that were drawn hint at. If each formula speaks against a ratio,
none hints at them, and the other two tests reject it: nine formulas that all gained 6 to 10 % must be a gain.
Of 40,000 simulated contests of the null above, at most 0.1 % more end so with 8 formulas, and none with 9 to
22.
"""

from __future__ import annotations

import math

import numpy as np

from evolake.contest.model import BETTER, NOT_BETTER, Contest
from evolake.contest.paired import flip_ends, snapped

NOMINAL = 0.0075
"""One-sided level of each of the three tests."""
LEAST_FORMULAS = 8
"""Formulas from which sign flips can reach `NOMINAL`: 2^-8 is 0.4 %."""
GRID = np.exp(np.linspace(0.0, -7.0, 141))[1:]
"""Ratios below the estimate at which the t tests are tried, relative to it."""


def mean_ratio(
    champion: np.ndarray, challenger: np.ndarray, rng: np.random.Generator, looks: int = 1
) -> Contest:
    """Return the contest by mean(champion) / mean(challenger): above 1 the challenger is better.

    The order of things does not matter.

    Args:
        champion, challenger: (n,) positive costs of the same n formulas, each summed over its shuffles and
            repeated passes.
        looks: how often the same contest may be looked at while it is measured; each look gets its share of
            the error (Bonferroni).

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
    order = np.lexsort((np.abs(theirs - ours), theirs + ours))
    theirs, ours = theirs[order], ours[order]
    n, level = len(ours), NOMINAL / looks
    flips = flip_ends(theirs, ours, rng, level)
    low = max(0.0, min(flips[0], _student_low(theirs, ours, level)))
    above = max(0.0, min(1 / flips[1] if flips[1] > 0 else np.inf, _student_low(ours, theirs, level)))
    high = 1 / above if above > 0 else np.inf
    low, high = snapped(low, 1.0, 1.0), snapped(high, 1.0, 1.0)
    least = math.ceil(-math.log2(level))  # below, not even a gain on each formula is rejected by sign flips
    if low > 1:
        reason = BETTER
    elif n >= least:
        reason = NOT_BETTER
    else:
        reason = f"{NOT_BETTER}: {n} formulas decide nothing, {least} may"
    return Contest(
        float(theirs.sum() / ours.sum()),
        low,
        high,
        n,
        f"sign flips, t and Hall's t over {n}",
        reason,
        neutral=1.0,
    )


def _student_low(above: np.ndarray, below: np.ndarray, level: float) -> float:
    """Return the largest ratio below the estimate that both t tests reject as too small; 0 if there is
    none."""
    from scipy.special import stdtrit

    n = len(above)
    if n < LEAST_FORMULAS:
        return 0.0
    needed, estimate = float(stdtrit(n - 1, 1 - level)), float(above.sum() / below.sum())
    if np.ptp(above / below) <= 1e-12 * estimate:
        return estimate
    rejected = _least_t(above, below, estimate * GRID) > needed
    if not rejected.any():
        return 0.0
    place = int(np.argmax(rejected))
    low, high = estimate * GRID[place], estimate * (GRID[place - 1] if place else 1.0)
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _least_t(above, below, np.array([middle]))[0] > needed else (low, middle)
        )
    return float(low)


def _least_t(above: np.ndarray, below: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Return the smaller of Student's and Hall's t of above - ratio * below, for each ratio; Student's if all
    of these are positive."""
    n = len(above)
    values = above[None, :] - ratios[:, None] * below[None, :]
    mean = values.mean(axis=1)
    apart = values - mean[:, None]
    deviation = np.sqrt((apart**2).sum(axis=1) / (n - 1))
    skewness = (apart**3).sum(axis=1) * n / ((n - 1) * (n - 2)) / deviation**3
    size = mean / deviation
    hall = size + skewness * size**2 / 3 + skewness**2 * size**3 / 27 + skewness / (6 * n)
    return np.where((values > 0).all(axis=1), size, np.minimum(size, hall)) * np.sqrt(n)
