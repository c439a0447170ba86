"""Sizes, budgets, resuming and promotion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.designs.evolution.schedule import (
    Level,
    budget_of,
    is_solved,
    next_level,
    promoted,
    promotion_count,
    size_of,
    sizes,
)
from evolake.designs.settings import DesignsSettings

PAPER = DesignsSettings()


def row(n: int, max_steps: int, unsolved: float) -> dict:
    return {"N": n, "max_steps": max_steps, "unsolved_fraction": unsolved}


def test_sizes_are_those_of_the_paper() -> None:
    assert [size_of(PAPER, k) for k in range(17)] == [
        10,
        14,
        20,
        28,
        40,
        57,
        80,
        113,
        160,
        226,
        320,
        453,
        640,
        905,
        1280,
        1810,
        2560,
    ]
    assert sizes(PAPER, "low")[-1] == 640
    assert sizes(PAPER, "medium")[-1] == 1280
    assert sizes(PAPER, "high")[-1] == 2560


def test_exactly_half_unsolved_is_a_failure_and_stops_the_schedule() -> None:
    assert not is_solved(row(10, 50, 0.5))
    assert next_level(PAPER, "low", [], [row(10, 50, 0.5)]) is None


def test_a_schedule_ends_at_the_largest_size_of_its_fidelity() -> None:
    done = [row(size_of(PAPER, k), budget_of(PAPER, "low", k), 0.4) for k in range(13)]
    assert next_level(PAPER, "low", [], done) is None
    assert next_level(PAPER, "medium", done, []) == Level(13, 905, 100_000)


def test_a_higher_fidelity_resumes_at_the_failed_level_with_twice_its_budget() -> None:
    low = [row(10, 50, 0.4), row(14, 100, 0.4), row(20, 200, 0.7)]
    assert next_level(PAPER, "medium", low, []) == Level(2, 20, 400)
    assert next_level(PAPER, "medium", low, [row(20, 400, 0.3)]) == Level(3, 28, 400)


def test_a_doubled_budget_starts_from_what_the_level_failed_with_and_not_from_its_plain_budget() -> None:
    low = [*(row(size_of(PAPER, k), 10_000, 0.4) for k in range(10)), row(320, 10_000, 0.6)]
    medium = [row(320, 20_000, 0.6)]
    assert next_level(PAPER, "medium", low, []) == Level(10, 320, 20_000)
    assert next_level(PAPER, "medium", low, medium) is None
    assert next_level(PAPER, "high", [*low, *medium], []) == Level(10, 320, 40_000)


@given(st.integers(1, 500), st.floats(0.001, 1.0))
def test_at_least_one_and_never_more_than_all_go_on(total: int, share: float) -> None:
    count = promotion_count(total, share)
    assert 1 <= count <= total
    assert count - 1 < total * share + 1e-6


@pytest.mark.parametrize(
    ("total", "medium", "high"),
    [(0, 0, 0), (1, 1, 1), (2, 1, 1), (6, 3, 1), (7, 4, 1), (20, 10, 2), (30, 15, 3)],
)
def test_the_best_half_goes_to_medium_and_the_best_tenth_to_high(total: int, medium: int, high: int) -> None:
    order = [f"d{number}" for number in range(total)]
    assert promoted(order, "low", PAPER) == order
    assert promoted(order, "medium", PAPER) == order[:medium]
    assert promoted(order, "high", PAPER) == order[:high]
