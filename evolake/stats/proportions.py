"""Shares of successes: an interval, a paired comparison, and the price of comparing often."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from evolake.stats.bootstrap import Interval


def wilson_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
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
