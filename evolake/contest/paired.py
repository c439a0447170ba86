"""A contest by differences of pairs: how much better the challenger is under each seed, or on each problem.

Intervals come from flipping signs: exact if the rivals are exchangeable in each pair (Fisher 1935; Hartigan
1969, "typical values"). If both are equally good, every pair could as well have come out the other way round,
so the sum of the differences is one of 2^n equally likely sums. The test rejects "better by at most r" if few
of these sums are as large as the one that was seen; all r that are not rejected form the interval. The sum
with the pairs J flipped is as large as the one seen if the pairs of J alone say "at most r", so the ends are
order statistics of the estimates from subsets of the pairs. The smallest p-value with n pairs is 2^-n: fewer
than six pairs can never reach 2.5 %.

Rivals may be equally good without being exchangeable: a little better in most pairs and much worse in a few.
No test of n pairs sees a loss that is rarer than 3 in n; one that came once is easily too small a sign. So an
end of the interval must also hold if the pair that speaks most against it is counted once more. Pairs that
are related (problems of one family) are one pair of their sum.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

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


EXACT = 14
"""Pairs up to which all flips are counted."""
FLIPS = 9999
"""Flips that are drawn if there are more pairs; the identity counts with them."""
SNAP = 1e-12
"""Relative size of a rounding error: an end that is this near to the neutral value is the neutral value."""


def flip_ends(
    gains: np.ndarray, weights: np.ndarray, chosen: np.ndarray, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of r = sum(gains) / sum(weights), each missed with a probability of at
    most `level`.

    Args:
        gains, weights: (n,) floats, weights positive; all 1 for a mean difference. Their order matters only
            to the flips that are drawn.
        chosen: of `subsets`. level: one-sided, e.g. 0.025. An end is infinite if 2^-n is larger.
    """
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


FLIPS_FROM = 6
"""Pairs from which sign flips can reach 2.5 %: 2^-6 is 1.6 %."""
T_FROM = 3
"""Pairs from which the t test may decide. Two pairs that agree by chance are too frequent: 6 % if scores take
two values."""
T_SHARE = 0.5
"""Nominal one-sided level of the t test, as a share of the error. It is half because short tails pass more
often: 2.2 % of uniform differences, with 3 pairs."""


def paired(
    differences: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    spread: float = 0.0,
    error: float = ERROR,
    groups: Sequence[Hashable] | None = None,
) -> Contest:
    """Return the contest of two rivals by how much better the challenger was in each pair. The order of pairs
    does not matter.

    From six pairs on the test flips signs, which is exact for rivals that are exchangeable in each pair. With
    three to five it is a t test at half the level, which assumes normal differences; fewer pairs decide
    nothing.

    Args:
        spread: least standard deviation of a difference, known from repeated measurements. It counts in the t
            test only: three pairs may agree by chance.
        error: of this contest, if it is one of several of which one decides; the interval is that of this
            error.
        groups: (n,) the group of each pair; pairs of one group are related and count as one. If there are
            too few groups for sign flips, each pair counts: the contest is then about these groups alone.

    Raises:
        ValueError: no difference, or one that is not finite.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(
            f"differences must be a list of at least one finite number (got {values.tolist()!r:.200})"
        )
    least = least_for_flips(error)
    sums, sizes = grouped(values, groups, least)
    n, size = len(sums), float(np.abs(values).max())
    flips = n >= least
    chosen = {}
    if flips:
        chosen[n + 1] = subsets(n + 1, rng)
        chosen[n] = chosen[n + 1][:, :n] if n > EXACT else subsets(n, rng)

    def ends(place: int | None) -> tuple[float, float]:
        """Return the ends, with the group at `place` once more."""
        again = [] if place is None else [place]
        gains, weights = np.append(sums, sums[again]), np.append(sizes, sizes[again])
        if flips:
            return flip_ends(gains, weights, chosen[len(gains)], error)
        return student_ends(gains / weights, T_SHARE * error, spread)

    means = sums / sizes
    (plain, above), low, high = ends(None), ends(int(means.argmin()))[0], ends(int(means.argmax()))[1]
    low, high = snapped(min(plain, low), 0.0, size), snapped(max(above, high), 0.0, size)
    if n < T_FROM:
        low, plain, high = min(low, 0.0), min(plain, 0.0), max(high, 0.0)
    what = "pair" if n == len(values) else "group"
    test = f"{'sign flips' if flips else 't test'} of {n} {what}{'s' if n > 1 else ''}"
    reason = WORST_AGAIN if low <= 0 < snapped(plain, 0.0, size) else _reason(low, n)
    return Contest(float(values.mean()), low, high, n, test, reason, worst=float(values.min()))


def least_for_flips(error: float) -> int:
    """Return the pairs from which sign flips can reach an error."""
    return max(FLIPS_FROM, math.ceil(-math.log2(error)))


def grouped(
    values: np.ndarray, groups: Sequence[Hashable] | None, least: int = FLIPS_FROM
) -> tuple[np.ndarray, np.ndarray]:
    """Return (groups,) the sum and the number of the values of each group, in an order that does not depend
    on theirs. groups: (n,), as of `paired`; if there are fewer than `least`, each value is its own."""
    if groups is None or len(set(groups)) < least:
        sums, sizes = values, np.ones(len(values))
    else:
        _, places = np.unique(np.array([str(name) for name in groups]), return_inverse=True)
        sums, sizes = np.bincount(places, weights=values), np.bincount(places).astype(np.float64)
    order = np.lexsort((sums, np.abs(sums)))
    return sums[order], sizes[order]


def exact(difference: float, pairs: int) -> Contest:
    """Return the contest of two rivals whose scores have no noise at all: any difference is one."""
    said = "scores have no noise, so the comparison is exact"
    return Contest(difference, difference, difference, pairs, "exact comparison", said)


def student_ends(values: np.ndarray, level: float, spread: float = 0.0) -> tuple[float, float]:
    """Return the ends of Student's interval of the mean, each missed with probability `level`; infinite with
    one value."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return -np.inf, np.inf
    reach = float(stdtrit(n - 1, 1 - level) * max(float(values.std(ddof=1)), spread) / np.sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach


def _reason(low: float, n: int) -> str:
    if low > 0:
        return BETTER
    return (
        f"{NOT_BETTER}: {n} {'pairs decide' if n > 1 else 'pair decides'} nothing, {T_FROM} may"
        if n < T_FROM
        else NOT_BETTER
    )
