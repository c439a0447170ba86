"""Shares of successes: an interval, a paired comparison, the price of comparing often, pass@k (the chance
that at least one of k samples is right), and the difference that a study of a size finds in four of five
runs.

For that power the two sides answer the same questions, so what makes a question hard falls out of the
difference. What is left is the chance of single replies: the variance of a question's difference is at most 2
p (1 - p) / replies, with p the share of right replies. If questions differ in difficulty it is less, so the
stated size is rather too large than too small; a gain that differs from question to question makes it larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from evolake.stats.bootstrap import Interval


def wilson_interval(successes: float, trials: int, level: float = 0.95) -> Interval:
    """Return score interval of a share (Wilson 1927): sensible also at 0 of n and n of n.

    Raises:
        ValueError: no trials, or successes outside 0..trials.
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(
            f"successes must be in 0..trials and trials be positive (got {successes} of {trials})"
        )
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / trials
    shrink = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(share, low, high, level)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return two-sided p-value that two solvers run on the same instances are equally good (McNemar 1947,
    exact binomial form).

    Args:
        only_first, only_second: instances that one solved and the other did not. Instances that both or
            neither solved say nothing.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts must not be negative (got {only_first} and {only_second})")
    total = only_first + only_second
    tail = sum(math.comb(total, count) for count in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**total)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for having asked several questions (Holm 1979), in the order given; each is
    compared with the level as it is.

    Raises:
        ValueError: a value outside 0..1.
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError(f"p-values must be in 0..1 (got {list(p_values)})")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Return unbiased estimate from `correct` of `samples` independent samples (Chen et al. 2021, equation
    1): 1 - C(samples - correct, k) / C(samples, k).

    Raises:
        ValueError: correct outside 0..samples, or k outside 1..samples.
    """
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(
            f"wanted 0 <= correct <= samples and 1 <= k <= samples (got samples={samples}, "
            f"correct={correct}, k={k})"
        )
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def reported_k(replies: int) -> list[int]:
    """Return the k that are reported of so many replies a problem: 2, 4, 8, ... up to them; none of one
    reply.

    >>> reported_k(10)
    [2, 4, 8]
    """
    return [2**power for power in range(1, replies.bit_length()) if 2**power <= replies]


LEVEL, POWER = 0.05, 0.8
FEWEST_QUESTIONS = 100
"""Held-out questions below which a study says that it has few."""


def detectable_difference(
    questions: int, replies: int, share: float, *, level: float = LEVEL, power: float = POWER
) -> float:
    """Return the difference of shares that is found with this power at this two-sided level.

    Args:
        questions: that both sides answer. replies: to each question by each side, over all seeds. share: of
            right replies, 0 to 1.

    Raises:
        ValueError: no question, no reply, or a share outside of 0 to 1.

    >>> round(detectable_difference(100, 1, 0.35), 3)
    0.189
    """
    if questions < 1 or replies < 1 or not 0 <= share <= 1:
        raise ValueError(
            f"power needs questions, replies and a share from 0 to 1 (got {questions}, {replies}, {share})"
        )
    quantile = NormalDist().inv_cdf
    return (quantile(1 - level / 2) + quantile(power)) * math.sqrt(
        2 * share * (1 - share) / (questions * replies)
    )


def power_sentence(questions: int, replies: int, share: float) -> str:
    """Return what a size can show, before anything is run.

    >>> power_sentence(100, 6, 0.35)
    'this size sees 7.7 points: 100 held-out questions with 6 replies each (estimate: found in 80% of studies
    at p < .05, if 35% are right)'
    """
    points = 100 * detectable_difference(questions, replies, share)
    how = f"{questions} held-out questions with {replies} {'reply' if replies == 1 else 'replies'} each"
    few = f"; at least {FEWEST_QUESTIONS} questions are advised" if questions < FEWEST_QUESTIONS else ""
    return (
        f"this size sees {points:.1f} points: {how} (estimate: found in {POWER:.0%} of studies at p < "
        f".05, if {share:.0%} are right){few}"
    )
