"""Average ranks of scores, row by row.

Consensus step 2 (Zhang, Sipling and Di Ventra 2026, section 4.2): designs that tie share the mean of the
places they span, so a rank row always sums to n(n-1)/2 and an objective that cannot distinguish two designs
does not prefer either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
