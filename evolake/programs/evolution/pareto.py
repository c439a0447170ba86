"""Rank programs by several metrics: non-dominated sorting and crowding distance, as NSGA-II has them (Deb et
al. 2002)."""

from __future__ import annotations

import numpy as np


def fronts(points: np.ndarray) -> np.ndarray:
    """Return the number of each point's front, 0 for those that no other dominates: as good in every column,
    and better in one.

    points: (n, metrics), higher is better.
    """
    as_good: np.ndarray = np.all(points[:, None, :] >= points[None, :, :], axis=2)
    dominates = as_good & ~as_good.T
    ranks = np.full(len(points), -1)
    rank = 0
    while (left := ranks < 0).any():
        ranks[left & ~dominates[left].any(axis=0)] = rank
        rank += 1
    return ranks


def crowding(points: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return how far each point's neighbours on its front are from each other, summed over metrics as shares
    of the front's range; infinite at the ends of a front."""
    result = np.zeros(len(points))
    for rank in np.unique(ranks):
        members = np.flatnonzero(ranks == rank)
        for column in points[members].T:
            order = np.argsort(column, kind="stable")
            spread = column[order[-1]] - column[order[0]]
            if spread > 0:
                gaps = np.concatenate([[np.inf], (column[order[2:]] - column[order[:-2]]) / spread, [np.inf]])
                result[members[order]] += gaps[: len(members)]
    return result
