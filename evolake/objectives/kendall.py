"""Kendall's tau-b between all pairs of objectives in one computation.

tau_b = (concordant - discordant) / sqrt((pairs - tied in x)(pairs - tied in y)). The numerator is a whole
number, so tau is exact up to the last division, whichever way it was counted:

* few designs: two bits per row and pair of designs, "distinguished" and "the later one is lower". Two
  objectives that both distinguish a pair agree on it unless their second bits differ, so concordant -
  discordant = |both| - 2 |differ and both|: and, xor and population counts, 64 pairs at a time.
* many designs: bits cost n**2 a pair of objectives, counting inversions by merge sort n log n
  (`kendall_merge`), at the price of a compilation.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evolake.objectives.ranks import RankTable

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
    from evolake.objectives.kendall_merge import count_pairs

    discordant, tied_in_both = count_pairs(ranks.order, ranks.dense)
    apart_in_both = pairs - ranks.tied_pairs[:, None] - ranks.tied_pairs[None, :] + tied_in_both
    return apart_in_both - 2 * discordant
