"""Ranks and Kendall's tau against scipy, on tables full of ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, rankdata

from evolake.objectives.kendall import kendall_matrix, rank_rows

LEVELS = st.sampled_from([0.0, 1.0, 2.5, -3.0, 1e-300, 7.0, np.inf])
TABLES = st.tuples(st.integers(1, 6), st.integers(1, 40)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=LEVELS)
)
METHODS = ("bits", "merge")


def scipy_tau(scores: np.ndarray) -> np.ndarray:
    """tau-b pair by pair; constants give 0."""
    k = len(scores)
    tau = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            ranks_i, ranks_j = rankdata(scores[i]), rankdata(scores[j])
            if np.ptp(ranks_i) > 0 and np.ptp(ranks_j) > 0:
                tau[i, j] = kendalltau(ranks_i, ranks_j).statistic
    return tau


@given(TABLES)
def test_ranks_are_zero_based_with_average_ties(scores):
    ranks = rank_rows(scores)
    np.testing.assert_array_equal(ranks.average, rankdata(scores, axis=1) - 1)
    np.testing.assert_array_equal(ranks.dense, rankdata(scores, axis=1, method="dense") - 1)
    np.testing.assert_array_equal(np.take_along_axis(scores, ranks.order, axis=1), np.sort(scores, axis=1))
    tied = [(row[:, None] == row[None, :]).sum() - len(row) for row in scores]
    np.testing.assert_array_equal(ranks.tied_pairs * 2, tied)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(scores=TABLES)
def test_tau_agrees_with_scipy_on_ties(method, scores):
    tau = kendall_matrix(rank_rows(scores), method)
    np.testing.assert_allclose(tau, scipy_tau(scores), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(tau, tau.T)


@pytest.mark.parametrize("n", [63, 64, 65, 414, 1001])
def test_both_ways_of_counting_give_the_same_bits(n):
    scores = np.random.default_rng(n).normal(size=(7, n)).round(1)
    scores[0, : n // 3] = np.inf
    ranks = rank_rows(scores)
    np.testing.assert_array_equal(kendall_matrix(ranks, "bits"), kendall_matrix(ranks, "merge"))


def test_a_constant_row_has_no_tau_and_any_other_agrees_with_itself():
    tau = kendall_matrix(rank_rows(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
    np.testing.assert_array_equal(tau, [[0, 0, 0], [0, 1, -1], [0, -1, 1]])
