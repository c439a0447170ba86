"""Power of a comparison of shares of right replies on the same questions: which difference a study of a size
finds in four of five runs.

The two sides answer the same questions, so what makes a question hard falls out of the difference. What is
left is the chance of single replies: the variance of a question's difference is at most 2 p (1 - p) /
replies, with p the share of right replies. Where questions differ in difficulty it is less, so the size that
is stated is rather too large than too small; a gain that differs from question to question makes it larger.
"""

from __future__ import annotations

import math
from statistics import NormalDist

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
