"""The duel: fresh seeds, noise floor, reach, comparison with the baseline."""

from __future__ import annotations

import numpy as np
import pytest
from designs_runs import Inline, Run

from evolake.designs.evolution.champion import Contender, decide_champion, reaches, should_crown, split_noise_floor
from evolake.designs.evolution.experiments import instance_seed
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DECISIONS, DUELS

SETTINGS = DesignsSettings(
    batch=10, champion_repeats=3, low=FidelitySettings(max_n=40, max_steps=400, wall_s=10),
    medium=FidelitySettings(max_n=57, max_steps=800, wall_s=10), high=FidelitySettings(max_n=80, max_steps=1000, wall_s=10),
)


def noisy(traced: str, n: int, max_steps: int, seed: int, wall_s: float, settings: DesignsSettings) -> Run:
    """`traced` is "steps at N=80, spread, largest size": linear in N, with a spread drawn from the seed."""
    steps, spread, largest = (float(part) for part in traced.split(","))
    factor = np.exp(spread * np.random.default_rng(seed % 2**32).normal())
    needed = int(steps * n / 80 * factor)
    if n > largest or needed > max_steps:
        return Run(3, 0.9, max_steps)
    return Run(needed, 0.4, needed)


def contender(name: str, steps: float, spread: float = 0.05, largest: int = 80) -> Contender:
    return Contender(name, f"{steps},{spread},{largest}", largest)


def duel(challenger: Contender, incumbent: Contender, baseline: Contender):
    return decide_champion(
        challenger, incumbent, baseline, executor=Inline(), settings=SETTINGS, cycle="0004", profile="test", root_seed=3, simulate=noisy
    )


BASELINE = contender("base", 900)


def test_a_clear_win_crowns_the_challenger_and_measures_it_against_the_baseline() -> None:
    result = duel(contender("new", 200), contender("old", 500), BASELINE)
    assert result.champion_id == "new"
    decisions = {row["comparison"]: row for row in result.decisions}
    assert set(decisions) == {"incumbent", "baseline"}
    assert decisions["incumbent"]["ratio"] == pytest.approx(2.5, rel=0.05)
    assert decisions["baseline"]["ratio"] == pytest.approx(4.5, rel=0.05)
    assert decisions["incumbent"]["ratio_low"] <= decisions["incumbent"]["ratio"] <= decisions["incumbent"]["ratio_high"]
    assert {row["N"] for row in result.trials} == {80}


def test_a_win_within_the_noise_keeps_the_incumbent() -> None:
    result = duel(contender("new", 480, 0.5), contender("old", 500, 0.5), BASELINE)
    assert result.champion_id == "old"
    row = result.decisions[0]
    assert not row["wins"] and row["noise_floor"] > row["ratio"]


def test_the_incumbent_against_itself_is_no_duel_but_is_compared_with_the_baseline() -> None:
    result = duel(contender("old", 300), contender("old", 300), BASELINE)
    assert result.champion_id == "old"
    assert [row["comparison"] for row in result.decisions] == ["baseline"]
    assert {row["design_id"] for row in result.trials} == {"old", "base"}


def test_the_baseline_as_champion_needs_no_comparison() -> None:
    result = duel(BASELINE, BASELINE, BASELINE)
    assert (result.champion_id, result.decisions) == ("base", [])


def test_the_first_challenger_meets_the_baseline_as_incumbent() -> None:
    result = duel(contender("new", 300), BASELINE, BASELINE)
    assert result.champion_id == "new"
    assert [row["comparison"] for row in result.decisions] == ["incumbent", "baseline"]
    assert result.decisions[0]["ratio"] == result.decisions[1]["ratio"]


def test_a_size_that_only_one_reaches_decides_with_a_lower_bound() -> None:
    result = duel(contender("wide", 300), contender("narrow", 100, largest=57), BASELINE)
    row = result.decisions[0]
    assert result.champion_id == "wide"
    assert row["N"] == 80
    assert row["ratio"] == pytest.approx(1000 / 300, rel=0.1)
    assert "the incumbent did not solve it" in row["reason"]


def test_where_nobody_reaches_the_size_the_next_smaller_one_decides() -> None:
    result = duel(Contender("new", "300,0.05,57", 80), contender("old", 400, largest=57), BASELINE)
    assert {row["N"] for row in result.decisions} == {57}
    assert [row["N"] for row in result.trials if row["part"] == "challenger"] == [80, 80, 80, 57, 57, 57]


def test_seeds_are_fresh_shared_by_both_and_change_with_the_cycle() -> None:
    result = duel(contender("new", 200), contender("old", 500), BASELINE)
    seeds = {part: [row["seed"] for row in result.trials if row["part"] == part] for part in ("challenger", "incumbent", "again", "baseline")}
    assert seeds["challenger"] == seeds["incumbent"] == seeds["baseline"]
    assert not set(seeds["again"]) & set(seeds["incumbent"])
    assert instance_seed(3, 80) not in seeds["incumbent"]
    later = decide_champion(
        contender("new", 200), contender("old", 500), BASELINE, executor=Inline(), settings=SETTINGS, cycle="0005", profile="test", root_seed=3,
        simulate=noisy,
    )
    assert not {row["seed"] for row in later.trials} & {row["seed"] for row in result.trials}


def test_rows_fit_their_tables_and_a_second_run_is_the_same() -> None:
    first, second = (duel(contender("new", 200), contender("old", 500), BASELINE) for _ in range(2))
    assert first == second
    assert DUELS.repeated_keys(DUELS.frame(first.trials)).is_empty()
    assert DECISIONS.repeated_keys(DECISIONS.frame(first.decisions)).is_empty()


def test_the_floor_of_a_quiet_design_is_one_and_grows_with_its_spread() -> None:
    assert split_noise_floor([100, 100, 100], [100, 100, 100]) == 1.0
    assert split_noise_floor([100, 110, 90], [95, 105, 100]) < split_noise_floor([100, 200, 50], [70, 140, 100])


def test_a_challenger_must_beat_the_median_by_more_than_the_floor() -> None:
    assert should_crown([100, 50, 200], [151, 151, 151], 1.5)
    assert not should_crown([100, 50, 200], [150, 150, 150], 1.5)


def test_most_runs_must_be_solved_to_reach_a_size() -> None:
    assert reaches([{"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.9}])
    assert not reaches([{"unsolved_fraction": 0.4}, {"unsolved_fraction": 0.9}])
