"""pass@k is the mean over all choices of k replies, and needs as many."""

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest

from evolake.stats.proportions import pass_at_k, reported_k


@pytest.mark.parametrize("replies", range(1, 8))
def test_it_is_the_mean_over_all_choices(replies):
    for correct in range(replies + 1):
        for k in range(1, replies + 1):
            every = fmean(
                any(place < correct for place in chosen) for chosen in combinations(range(replies), k)
            )
            assert pass_at_k(replies, correct, k) == pytest.approx(every)
        assert pass_at_k(replies, correct, 1) == pytest.approx(correct / replies)


def test_it_is_unbiased_where_the_share_to_the_power_is_not():
    draws = np.random.default_rng(0).binomial(8, 0.3, size=20_000)
    true = 1 - 0.7**4
    assert fmean(pass_at_k(8, int(right), 4) for right in draws) == pytest.approx(true, abs=0.01)
    assert fmean(1 - (1 - right / 8) ** 4 for right in draws) < true - 0.03


def test_powers_of_two_are_reported():
    assert [reported_k(replies) for replies in (1, 2, 3, 4, 16, 0)] == [
        [],
        [2],
        [2],
        [2, 4],
        [2, 4, 8, 16],
        [],
    ]
