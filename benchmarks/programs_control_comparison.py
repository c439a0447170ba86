"""Compare searches over problems: the ratio of their improvements, with intervals from the bootstrap over
seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.stats.bootstrap import RESAMPLES, Interval

CAP = 10.0
"""A ratio counts as at most this, and at least one over it: an improvement of 0 on one side gives no finite
ratio."""

ONE_SEED = "one seed"
"""Verdict where nothing says how much chance there is in a ratio."""


@dataclass(frozen=True)
class Comparison:
    """What two searches made of one problem.

    Attributes:
        ratio: own median improvement over the other's; the ends of its interval are NaN with one seed.
        resampled: ratios of resampled seeds.
    """

    problem: str
    ratio: Interval
    resampled: np.ndarray

    @property
    def verdict(self) -> str:
        """Return win or loss if the whole interval lies above or below 1, else tie; `ONE_SEED` without an
        interval."""
        if math.isnan(self.ratio.low):
            return ONE_SEED
        if self.ratio.low > 1:
            return "win"
        if self.ratio.high < 1:
            return "loss"
        return "tie"


def improvement_ratio(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return own / other of improvements >= 0, within 1 / CAP and CAP; 1 if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(other > 0, own / np.where(other > 0, other, 1), np.where(own > 0, CAP, 1.0))
    return np.clip(ratio, 1 / CAP, CAP)


def compare(
    problem: str, own: Sequence[float], other: Sequence[float], random: np.random.Generator
) -> Comparison:
    """Compare the improvements of two searches, one number per seed, none negative."""
    first, second = np.asarray(own, float), np.asarray(other, float)
    medians = [
        np.median(values[random.integers(len(values), size=(RESAMPLES, len(values)))], axis=1)
        for values in (first, second)
    ]
    ratios = improvement_ratio(*medians)
    low, high = np.quantile(ratios, [0.025, 0.975]) if len(first) > 1 else (math.nan, math.nan)
    estimate = float(improvement_ratio(np.median(first), np.median(second)))
    return Comparison(problem, Interval(estimate, float(low), float(high), 0.95), ratios)


def geometric_mean(comparisons: Sequence[Comparison], random: np.random.Generator) -> Interval:
    """Return the geometric mean of the ratios over problems, with its interval from the resampled seeds.

    The problems are taken as they are, not as a sample of others. With one seed of each there is nothing else
    to resample, and the interval is that over problems.
    """
    logs = np.log([item.ratio.estimate for item in comparisons])
    if any(item.verdict == ONE_SEED for item in comparisons):
        resampled = logs[random.integers(len(logs), size=(RESAMPLES, len(logs)))].mean(axis=1)
    else:
        resampled = np.mean([np.log(item.resampled) for item in comparisons], axis=0)
    low, high = np.quantile(np.exp(resampled), [0.025, 0.975])
    return Interval(float(np.exp(logs.mean())), float(low), float(high), 0.95)
