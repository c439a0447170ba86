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


@dataclass(frozen=True)
class Comparison:
    """What two searches made of one problem. ratios: resampled, of `ratio`. ratio: own median improvement
    over the other's."""

    problem: str
    ratio: Interval
    resampled: np.ndarray

    @property
    def verdict(self) -> str:
        """Return win or loss if the whole interval lies above or below 1, else tie."""
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
    low, high = np.quantile(ratios, [0.025, 0.975])
    estimate = float(improvement_ratio(np.median(first), np.median(second)))
    return Comparison(problem, Interval(estimate, float(low), float(high), 0.95), ratios)


def geometric_mean(comparisons: Sequence[Comparison]) -> Interval:
    """Return the geometric mean of the ratios over problems, with its interval from the resampled seeds.

    The problems are taken as they are, not as a sample of others.
    """
    estimate = math.exp(sum(math.log(item.ratio.estimate) for item in comparisons) / len(comparisons))
    low, high = np.quantile(
        np.exp(np.mean([np.log(item.resampled) for item in comparisons], axis=0)), [0.025, 0.975]
    )
    return Interval(estimate, float(low), float(high), 0.95)
