"""Percentile bootstrap (Efron 1979) over what was measured, over problems and seeds together; the test of a
difference by flipping signs; and the noise floor: how far two measurements of the very same thing are apart
on this host.

With three measurements an interval cannot reach beyond the smallest and the largest of them. The noise floor
is reported next to a result; whether a gain is one is decided by `evolake.contest`. Both measurements are
costs, so differences are ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 4000
CHUNK_VALUES = 2_000_000

Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Interval:
    """An estimate with the interval that covers it at `level` (0.95: 95%)."""

    estimate: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return f"{self.estimate:.3g} ({self.low:.3g} to {self.high:.3g}, {100 * self.level:g}%)"


def mean(samples: np.ndarray) -> np.ndarray:
    """Return mean over the last axis."""
    return samples.mean(axis=-1)


def median(samples: np.ndarray) -> np.ndarray:
    """Return median over the last axis."""
    return np.median(samples, axis=-1)


def bootstrap_interval(
    values: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    statistic: Statistic = mean,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return interval of a statistic of independent measurements.

    Args:
        values: (n,) finite floats, n >= 1. statistic: (..., n) -> (...), over the last axis.

    Raises:
        ValueError: no values, a value that is not finite, or a level outside (0, 1).
    """
    sample = _sample(values, "values")
    low, high = _ends(_resampled(sample, rng, statistic, resamples), level)
    return Interval(float(statistic(sample)), low, high, level)


def _sample(values: Sequence[float] | np.ndarray, name: str) -> np.ndarray:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise ValueError(
            f"{name} must be a list of at least one finite number (got {sample.tolist()!r:.200})"
        )
    return sample


def _resampled(
    sample: np.ndarray, rng: np.random.Generator, statistic: Statistic, resamples: int
) -> np.ndarray:
    at_once = max(1, CHUNK_VALUES // len(sample))
    parts = [
        statistic(sample[rng.integers(len(sample), size=(min(at_once, resamples - done), len(sample)))])
        for done in range(0, resamples, at_once)
    ]
    return np.concatenate(parts)


def _ends(statistics: np.ndarray, level: float) -> tuple[float, float]:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1 (got {level})")
    low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


LEVEL = 0.95
FLIPS = 9999
EXACT = 12
"""Problems that differ up to which all flips are counted."""


def grid_interval(values: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of a grid with the interval from resampling its rows and its columns, each with
    replacement (Owen and Eckles 2012).

    values: (seeds, problems), finite, at least one. With one seed the spread over seeds is unknown, and the
    interval is one of problems alone.
    """
    seeds, problems = values.shape
    rows = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds
    columns = rng.multinomial(problems, np.full(problems, 1 / problems), size=resamples) / problems
    means = np.einsum("rs,sp,rp->r", rows, values, columns, optimize=True)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(values.mean()), float(low), float(high), LEVEL)


def sign_flip_p(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Return two-sided p-value that paired differences are symmetric about 0 (Fisher 1935): the share of sign
    flips whose mean is at least as far from 0.

    differences: (n,). Zeros say nothing. All flips are counted where few differ, else FLIPS are drawn, and
    the one that happened counts with them.
    """
    summary = differences[differences != 0]
    if not len(summary):
        return 1.0
    seen = abs(summary.sum()) - 1e-12
    if len(summary) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(summary))[:, None] >> np.arange(len(summary))) & 1)
        return float((np.abs(signs @ summary) >= seen).mean())
    signs = 1 - 2 * rng.integers(2, size=(FLIPS, len(summary)))
    return float(((np.abs(signs @ summary) >= seen).sum() + 1) / (FLIPS + 1))


def noise_floor(
    first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, level: float = 0.95
) -> float:
    """Return ratio, at least 1, that `level` of the A/A pairs stay within.

    Args:
        first, second: (n,) positive costs; pair i measured one thing twice.

    Raises:
        ValueError: no pairs, unequal lengths, or a cost that is not positive and finite.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(
            f"wanted two lists of equal length, at least one pair (got shapes {a.shape} and {b.shape})"
        )
    if not (np.isfinite(a) & np.isfinite(b) & (a > 0) & (b > 0)).all():
        raise ValueError("costs must be positive and finite")
    return float(np.exp(np.quantile(np.abs(np.log(a / b)), level)))
