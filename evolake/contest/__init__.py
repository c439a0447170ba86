"""Decide whether one of two rivals is better: paired samples in; effect, interval, decision and reason out.

Every duel and every promotion of every line is a contest. Its error rate is stated (`ERROR`) and simulated
(`benchmarks/false_promotions.py`). Its null: the mean difference is 0, for costs the geometric mean of the
ratios is 1, and what the challenger loses, it loses in at least 4 of n pairs on average. No contest of n
pairs sees a loss that is rarer than 3 in n; each states the rarest that it could see (`Contest.unseen`). With
few pairs and skewed losses the rate is above 2.5 %; docs/trust-details.md has the rates. A contest is a pure
function of its samples and of its generator.
"""

from evolake.contest.costs import LEAST_FORMULAS, cost_ratio, power_sentence, seen_ratio
from evolake.contest.paired import (
    ERROR,
    LEVEL,
    WORST_AGAIN,
    Contest,
    exact,
    expected_false,
    family_sentence,
    paired,
)
from evolake.contest.sequential import LEAST_PAIRS, Progress, looks, progress, sequential

__all__ = [
    "ERROR",
    "LEAST_FORMULAS",
    "LEAST_PAIRS",
    "LEVEL",
    "WORST_AGAIN",
    "Contest",
    "Progress",
    "cost_ratio",
    "exact",
    "expected_false",
    "family_sentence",
    "looks",
    "paired",
    "power_sentence",
    "progress",
    "seen_ratio",
    "sequential",
]
