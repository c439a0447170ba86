"""How instances are spread over difficulties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.families.model.sampling import band_counts, band_of, spread


@pytest.mark.parametrize(
    ("wanted", "counts"),
    [
        (9, {"1-3": 1, "4-6": 3, "7-10": 5}),
        (18, {"1-3": 2, "4-6": 6, "7-10": 10}),
        (100, {"1-3": 11, "4-6": 33, "7-10": 56}),
        (1, {"1-3": 0, "4-6": 0, "7-10": 1}),
        (0, {"1-3": 0, "4-6": 0, "7-10": 0}),
    ],
)
def test_bands_share_one_to_three_to_five(wanted, counts):
    assert band_counts(wanted, [1, 3, 5]) == counts


@given(st.integers(0, 500), st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
def test_counts_add_up_and_are_within_one_of_their_share(wanted, weights):
    counts = list(band_counts(wanted, weights).values())
    assert sum(counts) == wanted
    assert all(
        abs(count - wanted * weight / sum(weights)) < 1 for count, weight in zip(counts, weights, strict=True)
    )


@pytest.mark.parametrize("weights", [[0, 0, 0], [1, 2], [-1, 1, 1]])
def test_impossible_weights_are_refused(weights):
    with pytest.raises(ValueError, match="wanted 3 weights"):
        band_counts(9, weights)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 4))
def test_every_missing_instance_is_drawn_in_its_own_band(low, middle, high, turn):
    missing = {"1-3": low, "4-6": middle, "7-10": high}
    drawn = [band_of(difficulty) for difficulty in spread(missing, turn)]
    assert {band: drawn.count(band) for band in missing} == missing


def test_difficulties_of_a_band_take_turns():
    assert spread({"1-3": 4, "4-6": 0, "7-10": 5}) == [1, 2, 3, 1, 7, 8, 9, 10, 7]
    assert spread({"1-3": 2, "4-6": 0, "7-10": 0}, turn=1) == [3, 1]


@pytest.mark.parametrize("difficulty", [0, 11])
def test_a_difficulty_outside_the_contract_has_no_band(difficulty):
    with pytest.raises(ValueError, match="difficulty must be 1 to 10"):
        band_of(difficulty)
