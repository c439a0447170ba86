"""The outcome of a contest, the error rate that all contests share, and what a whole search may claim: how
many contests it held, and how many false champions that lets expect at most."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = 0.025
"""Largest probability that a contest promotes a challenger that is no better than the champion: its mean
difference is at most 0 (costs: its geometric mean ratio at most 1), and its losses, if they are rare and
large, come at least 4 times in n pairs on average."""
LEVEL = 1 - 2 * ERROR
"""Level of the two-sided interval that belongs to `ERROR`: its lower end is above the neutral value by chance
in at most 2.5 %."""


@dataclass(frozen=True)
class Contest:
    """How two rivals compare.

    Attributes:
        effect: how much better the challenger is: a mean difference, or a ratio.
        low, high: ends of its interval at `LEVEL`; infinite if the samples set no bound.
        pairs: how many pairs count. neutral: the effect of equal rivals (0 for a difference, 1 for a ratio).
        test: name of the test. reason: why the challenger wins or does not, without figures.
        worst: the challenger's worst pair, as a difference or a ratio.
    """

    effect: float
    low: float
    high: float
    pairs: int
    test: str
    reason: str
    neutral: float = 0.0
    worst: float = 0.0

    @property
    def unseen(self) -> str:
        """What such a contest cannot see, as a sentence: a loss that is rarer than 3 in n cases is absent
        from n cases with a probability above 5 %."""
        rarest = max(1, self.pairs // 3)
        return f"worst case {self.worst:.4g}; a loss in fewer than 1 of {rarest} cases could go unseen"

    @property
    def wins(self) -> bool:
        """Return whether the challenger is better beyond the noise."""
        return self.low > self.neutral


BETTER = "a gain beyond the noise"
NOT_BETTER = "no gain beyond the noise"
WORST_AGAIN = "undecided: if the worst case came once more, the gain would not be beyond the noise"


def expected_false(contests: int) -> float:
    """Return the largest expected number of false promotions in so many contests, however they depend on each
    other."""
    return contests * ERROR


def family_sentence(contests: int, won: int) -> str:
    """Return the family-wise statement of a search as one sentence; "" if it held no contest."""
    if not contests:
        return ""
    held = f"{contests:,} contest{'' if contests == 1 else 's'} so far, {won:,} won"
    return (
        f"{held}; at {100 * ERROR:g} % each, at most {expected_false(contests):.2g} false promotions are "
        "expected"
    )
