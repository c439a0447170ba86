"""Intervals by flipping signs: exact if the rivals are exchangeable in each pair (Fisher 1935; Hartigan 1969,
"typical values").

If both rivals are equally good, every pair could as well have come out the other way round. So the sum of the
differences is one of 2^n equally likely sums. The test rejects "better by at most r" if few of these sums are
as large as the one that was seen. All r that are not rejected form the interval. The sum with the pairs J
flipped is as large as the one seen if the pairs of J alone say "at most r", so the ends are order statistics
of the estimates from subsets of the pairs.

The smallest p-value with n pairs is 2^-n: fewer than six pairs can never reach 2.5 %.
"""

from __future__ import annotations

import numpy as np

EXACT = 14
"""Pairs up to which all flips are counted."""
FLIPS = 9999
"""Flips that are drawn if there are more pairs; the identity counts with them."""
SNAP = 1e-12
"""Relative size of a rounding error: an end that is this near to the neutral value is the neutral value."""


def flip_ends(
    gains: np.ndarray, weights: np.ndarray, rng: np.random.Generator, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of r = sum(gains) / sum(weights), each missed with a probability of at
    most `level`.

    Args:
        gains, weights: (n,) floats, weights positive; all 1 for a mean difference. Their order matters only
            to the flips that are drawn.
        level: one-sided, e.g. 0.025. An end is infinite if 2^-n is larger.
    """
    chosen = subsets(len(gains), rng)
    counted = int(level * (len(chosen) + 1) + 1e-9)
    if not counted:
        return -np.inf, np.inf
    above, below = (chosen @ np.stack([gains, weights], axis=1)).T
    empty = below == 0
    ratios = np.divide(above, below, out=np.zeros_like(above), where=~empty)
    low = np.partition(np.where(empty, -np.inf, ratios), counted - 1)[counted - 1]
    high = np.partition(np.where(empty, np.inf, ratios), len(ratios) - counted)[len(ratios) - counted]
    return float(low), float(high)


def flip_p(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Return the one-sided p-value of "no better": the share of sign flips whose sum is at least the one that
    was seen."""
    flipped = subsets(len(differences), rng) @ differences
    size = SNAP * float(np.abs(differences).sum())
    return float((np.count_nonzero(flipped <= size) + 1) / (len(flipped) + 1))


def subsets(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a (subsets, n) matrix of 0 and 1: every subset of n pairs but the empty one, or FLIPS that are
    drawn."""
    if n <= EXACT:
        return ((np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    bits = np.unpackbits(np.frombuffer(rng.bytes(FLIPS * ((n + 7) // 8)), dtype=np.uint8)).reshape(FLIPS, -1)
    return bits[:, :n].astype(np.float64)


def snapped(end: float, neutral: float, size: float) -> float:
    """Return `end`, or `neutral` if they differ by a rounding error of values of that size."""
    return neutral if abs(end - neutral) <= SNAP * size else end
