"""Ratings: the figures of the specification, laws of TrueSkill, and what children inherit."""

import math

import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from evolake.prompts import ratings

FRESH = (25.0, 25.0 / 3.0)
MUS = st.floats(-50, 100)
SIGMAS = st.floats(0.3, 12)
RATINGS = st.tuples(MUS, SIGMAS)


def close(left: list[tuple[float, float]], right: list[tuple[float, float]], tolerance: float = 1e-4) -> bool:
    return len(left) == len(right) and all(
        math.isclose(a, b, abs_tol=tolerance)
        for first, other in zip(left, right, strict=True)
        for a, b in zip(first, other, strict=True)
    )


@pytest.mark.parametrize(
    ("before", "ranks", "after"),
    [
        ([FRESH] * 3, [0, 1, 2], [(31.675352, 6.655985), (25.0, 6.207897), (18.324648, 6.655985)]),
        ([FRESH] * 3, [0, 0, 1], [(27.551960, 5.974130), (27.557338, 5.972007), (19.890701, 6.735245)]),
        (
            [(29.0, 3.0), (22.0, 6.0), FRESH],
            [1, 0, 1],
            [(27.584409, 2.790745), (27.718764, 4.728095), (24.884898, 4.914738)],
        ),
    ],
)
def test_known_matches(before, ranks, after):
    assert close(ratings.update(before, ranks), after)


@given(st.lists(RATINGS, min_size=2, max_size=5), st.data())
def test_agrees_with_the_package_wherever_the_package_can_compute(before, data):
    ranks = data.draw(st.lists(st.integers(0, 3), min_size=len(before), max_size=len(before)))
    after = ratings.update(before, ranks)
    try:
        wanted = trueskill.TrueSkill().rate([(trueskill.Rating(*item),) for item in before], ranks=ranks)
    except FloatingPointError:
        assert all(math.isfinite(mu) and 0 < sigma < math.inf for mu, sigma in after)
        return
    assert close(after, [(float(item.mu), float(item.sigma)) for (item,) in wanted], 1e-3)


@given(RATINGS, RATINGS)
def test_a_winner_gains_and_a_loser_drops(winner, loser):
    (won, _), (lost, _) = ratings.update([winner, loser], [0, 1])
    assert won >= winner[0] - 1e-9 and lost <= loser[0] + 1e-9


def test_a_winner_that_was_rated_far_below_does_not_break_the_update():
    after = ratings.update([(1000.0, 1.0), (0.0, 1.0)], [1, 0])
    assert after[0][0] < 980 and after[1][0] > 20 and all(0.9 < sigma < 1.1 for _, sigma in after)
    assert math.isclose(after[0][0] + after[1][0], 1000.0, abs_tol=1e-6)
    drawn = ratings.update([(0.0, 1.0), (1000.0, 1.0)], [0, 0])
    assert drawn[0][0] > 20 and drawn[1][0] < 980


@pytest.mark.parametrize(
    ("before", "ranks"),
    [([FRESH], [0, 1]), ([(25.0, 0.0), FRESH], [0, 1]), ([(math.nan, 1.0), FRESH], [0, 1])],
)
def test_what_is_no_match_is_refused(before, ranks):
    with pytest.raises(ValueError, match="rating"):
        ratings.update(before, ranks)


def test_equal_means_are_a_draw_even_where_their_sums_were_rounded_differently():
    assert ratings.ranks_of([0.1 + 0.2, 0.5, 0.3]) == [1, 0, 1]
    assert ratings.ranks_of([0.0, 0.0]) == [0, 0]
    assert ratings.ranks_of([]) == []


@given(st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_ranks_order_like_the_means(counts):
    ranks = ratings.ranks_of([count / 20 for count in counts])
    assert all(
        (ranks[i] < ranks[j]) == (counts[i] > counts[j])
        for i in range(len(counts))
        for j in range(len(counts))
    )
    assert min(ranks) == 0 and set(ranks) == set(range(max(ranks) + 1))


def test_a_mutated_child_keeps_mu_and_adds_variance():
    assert ratings.mutated((27.0, 3.0)) == (27.0, math.sqrt(10.0))
    assert ratings.mutated((27.0, 3.0), 4.0) == (27.0, 5.0)


def test_a_crossed_child_is_the_mean_by_precision():
    mu, sigma = ratings.crossed([(30.0, 1.0), (20.0, 2.0)])
    assert math.isclose(mu, 28.0) and math.isclose(sigma, math.sqrt(0.8 + 1.0))
    assert ratings.shares([(30.0, 1.0), (20.0, 2.0)]) == [0.8, 0.2]
    with pytest.raises(ValueError, match="parents"):
        ratings.crossed([])


@given(st.lists(RATINGS, min_size=1, max_size=5))
def test_a_crossed_child_lies_between_its_parents_and_is_surer_than_each_but_for_the_edit(parents):
    mu, sigma = ratings.crossed(parents)
    assert min(item for item, _ in parents) - 1e-9 <= mu <= max(item for item, _ in parents) + 1e-9
    assert 1.0 < sigma <= min(math.hypot(item, 1.0) for _, item in parents) + 1e-9
    assert math.isclose(sum(ratings.shares(parents)), 1.0)
