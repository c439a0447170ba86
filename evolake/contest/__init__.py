"""Decide whether one of two rivals is better: paired samples in; effect, interval, decision and reason out.

Every duel and every promotion of every line is a contest. Its error rate is stated (`ERROR`) and simulated:
equal rivals are promoted in at most 2.5 % of contests under the noise models of
`benchmarks/false_promotions.py`. A contest is a pure function of its samples and of its generator.
"""

from evolake.contest.costs import LEAST_FORMULAS, cost_ratio
from evolake.contest.model import ERROR, LEVEL, WORST_AGAIN, Contest, expected_false, family_sentence
from evolake.contest.paired import exact, paired
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
    "progress",
    "sequential",
]
