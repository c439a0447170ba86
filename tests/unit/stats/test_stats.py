"""Statistics against scipy, published values and their own laws."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evolake.stats import bootstrap_interval, holm, mcnemar_exact, noise_floor, pass_at_k, wilson_interval
from evolake.stats.bootstrap import median


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_wilson_agrees_with_scipy(counts, level):
    expected = scipy_stats.binomtest(*counts).proportion_ci(level, method="wilson")
    interval = wilson_interval(*counts, level)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert interval.low <= interval.estimate <= interval.high


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(b, c):
    expected = scipy_stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_exact(b, c) == mcnemar_exact(c, b)


def test_holm_on_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(values):
    adjusted = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    assert all(
        adjusted[i] <= adjusted[j]
        for i in range(len(values))
        for j in range(len(values))
        if values[i] <= values[j]
    )


@pytest.mark.parametrize(("samples", "correct", "k"), [(6, 2, 3), (7, 0, 2), (5, 5, 1), (6, 4, 3)])
def test_pass_at_k_is_the_share_of_subsets_with_a_success(samples, correct, k):
    subsets = list(combinations([True] * correct + [False] * (samples - correct), k))
    assert pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_bootstrap_of_a_mean_is_close_to_the_normal_interval():
    values = generator(1).normal(10, 2, size=400)
    interval = bootstrap_interval(values, generator())
    half = 1.96 * values.std(ddof=1) / 20
    assert interval.estimate == pytest.approx(values.mean())
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.05
    )


def test_bootstrap_agrees_with_scipy_on_a_median():
    values = generator(2).lognormal(size=101)
    expected = scipy_stats.bootstrap(
        (values,), np.median, method="percentile", n_resamples=4000, rng=generator(3)
    ).confidence_interval
    interval = bootstrap_interval(values, generator(), median)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=0.1)


def test_the_noise_floor_is_a_ratio_either_way_round():
    first, second = [100, 100, 100, 90], [100, 110, 95, 100]
    assert noise_floor(first, second, level=1.0) == pytest.approx(10 / 9)
    assert noise_floor(first, second) == noise_floor(second, first)
    assert noise_floor([5.0], [5.0]) == 1.0
