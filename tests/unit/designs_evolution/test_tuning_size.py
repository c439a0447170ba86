"""How far trials of a tuning go: as far as the budget allows, counted in steps and never in time."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evolake.designs.evolution.tuning import largest_size
from evolake.designs.settings import DesignsSettings, FidelitySettings

SETTINGS = DesignsSettings(
    batch=10,
    tuning_trials=9,
    tuning_fidelity="high",
    low=FidelitySettings(max_n=40, max_steps=400, core_s=10),
    medium=FidelitySettings(max_n=57, max_steps=1600, core_s=10),
    high=FidelitySettings(max_n=113, max_steps=3200, core_s=10),
)


def measured(*steps_by_size: tuple[int, int]) -> list[dict[str, Any]]:
    """Rows of sizes with the steps that they took, all solved."""
    return [
        {
            "N": n,
            "batch": 10,
            "steps_run": steps,
            "median_step": steps,
            "max_steps": 10_000,
            "unsolved_fraction": 0.4,
        }
        for n, steps in steps_by_size
    ]


SQUARES = measured(*((n, n * n) for n in (10, 14, 20, 28, 40, 57)))


def with_work(work: int) -> DesignsSettings:
    return SETTINGS.model_copy(update={"tuning_work": work})


def test_without_a_budget_a_trial_goes_to_the_top_of_its_fidelity():
    assert largest_size(SQUARES, SETTINGS) == 113
    assert largest_size(SQUARES, SETTINGS.model_copy(update={"tuning_fidelity": "medium"})) == 57


def test_a_budget_says_the_largest_size_by_what_the_design_took():
    up_to_40 = sum(n**3 * 10 for n in (10, 14, 20, 28, 40))  # of one trial
    assert up_to_40 * 10 / 10**6 < 11 < (up_to_40 + 57**3 * 10) * 10 / 10**6
    assert largest_size(SQUARES, with_work(11)) == 40
    assert largest_size(SQUARES, with_work(1)) == 14
    assert largest_size(SQUARES, with_work(10**6)) == 113


def test_a_size_that_was_not_run_counts_as_the_power_law_says_and_at_most_as_the_schedule_gives():
    up_to_57 = sum(n**3 * 10 for n in (10, 14, 20, 28, 40, 57))
    at_80, at_113 = min(3200, 80**2) * 80 * 10, min(3200, 113**2) * 113 * 10
    fits = -(-(up_to_57 + at_80) * 10 // 10**6)
    assert largest_size(SQUARES, with_work(fits)) == 80
    assert largest_size(SQUARES, with_work(-(-(up_to_57 + at_80 + at_113) * 10 // 10**6))) == 113
    assert largest_size([], with_work(10**6)) == 113, (
        "of a design that was never run, each size counts as its steps"
    )


@given(st.integers(1, 200), st.integers(1, 200))
def test_more_work_never_means_smaller_instances(work, other):
    least, most = sorted((work, other))
    assert largest_size(SQUARES, with_work(least)) <= largest_size(SQUARES, with_work(most))
