"""Percentile bootstrap (Efron 1979): the spread of a statistic, from resampling what was measured.

Honest about small samples only as far as they go: with three measurements the interval cannot reach beyond
the smallest and the largest of them.
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
