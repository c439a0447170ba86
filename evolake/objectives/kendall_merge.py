"""Discordant and doubly tied pairs of all pairs of rows by merge sort: n log n a pair (Knight 1966).

Walk the designs in the order of objective i; inside a tie of i, in the order of objective k. What is then out
of order in k is discordant, and merge sort counts it while sorting. Compiled on first use, never on import:
numba takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

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
