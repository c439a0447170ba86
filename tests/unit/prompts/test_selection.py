"""Selection: the window, the leader, the draw of the rest, and the softmax."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.prompts.ratings import Entrant, latest, select

POPULATIONS = st.lists(st.tuples(st.floats(0, 50), st.floats(0.5, 9)), min_size=1, max_size=25).map(
    lambda ratings: [Entrant(f"id{number}", number, rating) for number, rating in enumerate(ratings)]
)


def people(*ratings: tuple[float, float]) -> list[Entrant]:
    return [Entrant(f"id{number}", number, rating) for number, rating in enumerate(ratings)]


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(
    POPULATIONS,
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 2**32),
    st.sampled_from([None, 0.01, 1.0, 100.0]),
)
def test_chosen_ones_are_distinct_members_of_the_window(population, count, window, seed, temperature):
    chosen = select(population, count, random(seed), window=window, temperature=temperature)
    allowed = {item.prompt_id for item in population[-window:]}
    names = [item.prompt_id for item in chosen]
    assert len(set(names)) == len(names) == min(count, len(allowed)) and set(names) <= allowed
    assert chosen == select(population, count, random(seed), window=window, temperature=temperature)


@given(POPULATIONS, st.integers(1, 6), st.integers(0, 2**32))
def test_the_highest_score_of_the_window_always_leads(population, count, seed):
    best = max(item.rating[0] + 2 * item.rating[1] for item in population[-10:])
    first = select(population, count, random(seed))[0]
    assert first.rating[0] + 2 * first.rating[1] == best


@given(POPULATIONS, st.integers(0, 2**32))
def test_the_order_in_which_prompts_are_given_does_not_matter(population, seed):
    assert select(population[::-1], 3, random(seed)) == select(population, 3, random(seed))


def test_a_prompt_that_left_the_window_is_never_drawn_however_good():
    population = people((90, 1), *[(25, 1)] * 10)
    assert latest(population, 10) == population[1:]
    drawn = {item.number for seed in range(200) for item in select(population, 3, random(seed))}
    assert drawn == set(range(1, 11))


def test_the_rest_is_drawn_uniformly():
    population = people((40, 1), *[(10 + number, 1) for number in range(5)])
    counts = np.zeros(6)
    generator = random(7)
    for _ in range(5000):
        for item in select(population, 3, generator):
            counts[item.number] += 1
    assert counts[0] == 5000
    assert np.abs(counts[1:] - 2000).max() < 150


def test_the_softmax_draws_in_proportion():
    population = people((1, 1), (2, 1), (3, 1))
    generator, counts = random(3), np.zeros(3)
    for _ in range(20000):
        counts[select(population, 1, generator, temperature=1.0)[0].number] += 1
    weights = np.exp([1.0, 2.0, 3.0])
    assert np.abs(counts / 20000 - weights / weights.sum()).max() < 0.015


@pytest.mark.parametrize(
    ("population", "options"),
    [
        ([], {}),
        (people((25, 1)), {"count": 0}),
        (people((25, 1)), {"window": 0}),
        (people((25, 1)), {"temperature": 0.0}),
    ],
)
def test_what_cannot_be_selected_from_is_refused(population, options):
    with pytest.raises(ValueError, match="selection|window|temperature"):
        select(population, **({"count": 1, "random": random()} | options))  # pyright: ignore[reportArgumentType]
