"""Power laws: what is fitted, and how sure it is of sizes that were not run."""

import numpy as np
import pytest

from evolake.stats.power_law import fit_power_law

SIZES = [10, 14, 20, 28, 40]


def test_an_exact_power_law_is_found():
    law = fit_power_law(SIZES, [3 * n**1.5 for n in SIZES])
    assert law is not None
    assert (law.b, law.b_error) == pytest.approx((1.5, 0), abs=1e-6)
    assert law.predicted(100) == pytest.approx((3000, 3000, 3000), rel=1e-3)
    assert fit_power_law([10, 20], [1, 2]) is None


def test_the_error_of_the_exponent_agrees_with_scipy():
    from scipy.stats import linregress

    steps = [20, 44, 55, 88, 174]
    expected = linregress(np.log(SIZES), np.log(steps))
    law = fit_power_law(SIZES, steps)
    assert law is not None
    assert (law.b, law.b_error) == pytest.approx((expected.slope, expected.stderr))


def test_a_prediction_holds_as_often_as_it_says():
    """Of laws with lognormal scatter, the point at a size beyond all that were seen lies in the interval in
    19 of 20 cases."""
    random, held = np.random.default_rng(0), 0
    for _ in range(1500):
        steps = [5 * n**1.3 * float(np.exp(0.3 * random.normal())) for n in SIZES]
        law = fit_power_law(SIZES, steps)
        assert law is not None
        middle, low, high = law.predicted(160)
        assert low <= middle <= high
        held += low <= 5 * 160**1.3 * float(np.exp(0.3 * random.normal())) <= high
    assert 0.93 < held / 1500 < 0.97


def test_a_prediction_far_beyond_all_is_finite():
    law = fit_power_law([10, 11, 12], [1, 1000, 1])
    assert law is not None and all(np.isfinite(law.predicted(1e6)))
