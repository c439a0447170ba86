"""Kendall's tau-b between all pairs of objectives at the same time.

tau_b = (concordant - discordant) / sqrt((pairs - tied in x)(pairs - tied in y)). The numerator is a whole
number, so tau is exact up to the last division, whichever way it was counted:

* few designs: two bits per row and pair of designs, "distinguished" and "the later one is lower". Two
  objectives that both distinguish a pair agree on it unless their second bits differ, so concordant -
  discordant = |both| - 2 |differ and both|: and, xor and population counts, 64 pairs at a time.
* many designs: bits cost n**2 a pair of objectives, counting inversions by merge sort n log n
  (`count_pairs`), at the price of a compilation.

Discordant and doubly tied pairs of all pairs of rows by merge sort: n log n a pair (Knight 1966).

Walk the designs in the order of objective i; inside a tie of i, in the order of objective k. What is then out
of order in k is discordant, and merge sort counts it while sorting. Compiled on first use, never on import:
numba takes seconds.

Average ranks of scores, row by row.

Consensus step 2 (Zhang, Sipling and Di Ventra 2026, section 4.2): designs that tie share the mean of the
places they span, so a rank row always sums to n(n-1)/2 and an objective that cannot distinguish two designs
does not prefer either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

RUN = 12


def count_pairs(order: np.ndarray, dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return discordant and tied_in_both, each (K, K) int64, symmetric, 0 on the diagonal.

    Args:
        order, dense: (K, n), as `ranks.rank_rows` gives them.
    """
    discordant, tied_in_both = _compiled()(
        np.ascontiguousarray(order, dtype=np.int32), np.ascontiguousarray(dense, dtype=np.int32)
    )
    return discordant + discordant.T, tied_in_both + tied_in_both.T


@cache
def _compiled() -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    from numba import njit

    @njit(nogil=True)
    def sort_ties(values, groups):
        """Sorts `values` inside each tie of the other objective; gives the pairs tied in both."""
        both = 0
        for g in range(len(groups) - 1):
            start, stop = groups[g], groups[g + 1]
            if stop - start == 1:
                continue
            values[start:stop] = np.sort(values[start:stop])
            equal = 0
            for position in range(start + 1, stop):
                equal = equal + 1 if values[position] == values[position - 1] else 0
                both += equal
        return both

    @njit(nogil=True)
    def inversions(values, spare):
        """Pairs out of order; `values` and `spare` are used up."""
        n = len(values)
        count = 0
        for start in range(0, n, RUN):
            stop = min(start + RUN, n)
            for position in range(start + 1, stop):
                value = values[position]
                hole = position
                while hole > start and values[hole - 1] > value:
                    values[hole] = values[hole - 1]
                    hole -= 1
                values[hole] = value
                count += position - hole
        width = RUN
        while width < n:
            for start in range(0, n, 2 * width):
                middle = min(start + width, n)
                stop = min(start + 2 * width, n)
                left, right, out = start, middle, start
                while left < middle and right < stop:
                    takes_right = values[right] < values[left]
                    spare[out] = values[right] if takes_right else values[left]
                    count += (middle - left) * takes_right
                    right += takes_right
                    left += 1 - takes_right
                    out += 1
                while left < middle:
                    spare[out] = values[left]
                    left += 1
                    out += 1
                while right < stop:
                    spare[out] = values[right]
                    right += 1
                    out += 1
            values, spare = spare, values
            width *= 2
        return count

    @njit(nogil=True)
    def all_pairs(order, dense):
        k, n = dense.shape
        discordant = np.zeros((k, k), dtype=np.int64)
        tied_in_both = np.zeros((k, k), dtype=np.int64)
        values = np.empty(n, dtype=np.int32)
        spare = np.empty(n, dtype=np.int32)
        groups = np.empty(n + 1, dtype=np.int64)
        for i in range(k):
            size = 0
            for position in range(n):
                if position == 0 or dense[i, order[i, position]] != dense[i, order[i, position - 1]]:
                    groups[size] = position
                    size += 1
            groups[size] = n
            for j in range(i + 1, k):
                for position in range(n):
                    values[position] = dense[j, order[i, position]]
                tied_in_both[i, j] = sort_ties(values, groups[: size + 1])
                discordant[i, j] = inversions(values, spare)
        return discordant, tied_in_both

    return all_pairs


@dataclass(frozen=True)
class RankTable:
    """What ranking K rows of n scores gives.

    order: (K, n) int, positions of the designs from lowest to highest score (any order inside a tie).
    dense: (K, n) int, 0 for the lowest distinct score of the row, 1 for the next, and so on.
    average: (K, n) float, 0-based ranks, ties share their mean.
    tied_pairs: (K,) int, pairs of designs that the row does not distinguish.
    """

    order: np.ndarray
    dense: np.ndarray
    average: np.ndarray
    tied_pairs: np.ndarray


def rank_rows(scores: np.ndarray) -> RankTable:
    """Return ranks of every row of `scores`, (K, n) float without NaN, lower is better, +inf allowed, n >=
    1."""
    places = np.arange(scores.shape[1])
    order = np.argsort(scores, axis=1)
    ascending = np.take_along_axis(scores, order, axis=1)
    starts_group = np.ones(scores.shape, dtype=bool)
    starts_group[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    ends_group = np.ones(scores.shape, dtype=bool)
    ends_group[:, :-1] = starts_group[:, 1:]
    first = np.maximum.accumulate(np.where(starts_group, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends_group, places, places[-1])[:, ::-1], axis=1)[:, ::-1]
    dense = np.empty(scores.shape, dtype=np.int32)
    np.put_along_axis(dense, order, np.cumsum(starts_group, axis=1, dtype=np.int32) - 1, axis=1)
    average = np.empty(scores.shape, dtype=np.float64)
    np.put_along_axis(average, order, (first + last) / 2, axis=1)
    tied_pairs = (last - first).sum(axis=1) // 2
    return RankTable(order=order, dense=dense, average=average, tied_pairs=tied_pairs)


BLOCK_WORDS = 65_536
COMPILE_S = 4.0
BITS_S_PER_WORD = 3.0e-9
MERGE_S_PER_STEP = 3.0e-9

Method = Literal["auto", "bits", "merge"]


def kendall_matrix(ranks: RankTable, method: Method = "auto") -> np.ndarray:
    """Return tau, (K, K) float in [-1, 1], symmetric.

    A row that ties all its designs has no tau: its row and column are 0, its diagonal too. Any other diagonal
    is 1. `method` forces one way of counting; "auto" takes the one expected to be faster.
    """
    k, n = ranks.dense.shape
    pairs = n * (n - 1) // 2
    if method == "auto":
        method = "bits" if bits_are_faster(k, n) else "merge"
    difference = _difference_by_bits(ranks.dense) if method == "bits" else _difference_by_merge(ranks, pairs)
    root = np.sqrt((pairs - ranks.tied_pairs).astype(np.float64))
    scale = root[:, None] * root[None, :]
    tau = np.divide(difference, scale, out=np.zeros((k, k)), where=scale > 0)
    np.clip(tau, -1.0, 1.0, out=tau)
    np.fill_diagonal(tau, (root > 0).astype(np.float64))
    return tau


def bits_are_faster(k: int, n: int) -> bool:
    """Return whether bits beat merge sort plus its compilation, from rates measured on one core."""
    objective_pairs = k * (k + 1) / 2
    bits = objective_pairs * n * n / 128 * BITS_S_PER_WORD
    merge = COMPILE_S + objective_pairs * n * np.log2(max(n, 2)) * MERGE_S_PER_STEP
    return bits <= merge


def _difference_by_bits(dense: np.ndarray) -> np.ndarray:
    """Return concordant - discordant of every pair of rows, (K, K) int64.

    Every pair of designs is (a, a + lag) on a ring for one lag up to n/2. For an even n the last lag meets
    each pair twice: half of it is left out.
    """
    k, n = dense.shape
    small = dense.astype(np.int16 if n < 2**15 else np.int32)
    shifts = np.lib.stride_tricks.sliding_window_view(np.concatenate([small, small], axis=1), n, axis=1)
    whole_lags = (n - 1) // 2
    lags = max(1, BLOCK_WORDS * 64 // (k * n))
    total = np.zeros((k, k), dtype=np.int64)
    for first in range(1, n // 2 + 1, lags):
        block = [(small[:, None, :], shifts[:, first : min(first + lags, whole_lags + 1)])]
        if n % 2 == 0 and first <= n // 2 < first + lags:
            block.append((small[:, None, : n // 2], small[:, None, n // 2 :]))
        _add_agreement(total, _packed(np.greater, block), _packed(np.not_equal, block))
    return np.triu(total) + np.triu(total, 1).T


def _packed(compare: np.ufunc, block: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """One bit a comparison of (K, 1, width) with (K, lags, width), for all of the block: (K, words) uint64,
    the last word filled up with zeros."""
    k = len(block[0][1])
    cells = sum(later[0].size for _, later in block)
    flags = np.empty((k, -(-cells // 64) * 64), dtype=bool)
    flags[:, cells:] = False
    done = 0
    for earlier, later in block:
        compare(earlier, later, out=flags[:, done : done + later[0].size].reshape(later.shape))
        done += later[0].size
    return np.packbits(flags, axis=1).view(np.uint64)


def _add_agreement(total: np.ndarray, lower: np.ndarray, apart: np.ndarray) -> None:
    """Add concordant - discordant over the packed pairs to the upper triangle of `total`, (K, K) int64."""
    both, differ = np.empty_like(apart), np.empty_like(apart)
    both_count, differ_count = np.empty(apart.shape, dtype=np.uint8), np.empty(apart.shape, dtype=np.uint8)
    for i in range(len(apart)):
        size = len(apart) - i
        np.bitwise_and(apart[i], apart[i:], out=both[:size])
        np.bitwise_xor(lower[i], lower[i:], out=differ[:size])
        np.bitwise_and(differ[:size], both[:size], out=differ[:size])
        np.bitwise_count(both[:size], out=both_count[:size])
        np.bitwise_count(differ[:size], out=differ_count[:size])
        agreement = both_count[:size].sum(axis=1, dtype=np.int32)
        agreement -= 2 * differ_count[:size].sum(axis=1, dtype=np.int32)
        total[i, i:] += agreement


def _difference_by_merge(ranks: RankTable, pairs: int) -> np.ndarray:

    discordant, tied_in_both = count_pairs(ranks.order, ranks.dense)
    apart_in_both = pairs - ranks.tied_pairs[:, None] - ranks.tied_pairs[None, :] + tied_in_both
    return apart_in_both - 2 * discordant
