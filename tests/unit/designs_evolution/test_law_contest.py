"""Who is promoted is decided by the law through several sizes at the target, and by nothing that a limit or a
bend hides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from designs_runs import Inline, Run

from evolake.cycle_seeds import CycleSeeds
from evolake.designs.evolution.design_contest import Contender, Succession, decide_champion
from evolake.designs.evolution.extrapolation import (
    LAWS,
    bends,
    gains_by_law,
    law_sizes,
    line_weights,
    plausible_laws,
)
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DECISIONS, DUELS

LIMIT = 10**7
LEVEL = FidelitySettings(max_n=160, max_steps=LIMIT, core_s=10)
SETTINGS = DesignsSettings(batch=10, champion_repeats=8, low=LEVEL, medium=LEVEL, high=LEVEL)
SIZES = [28, 40, 57, 80]


def duel(
    new: tuple[float, float], old: tuple[float, float], largest: tuple[int, int], spread: float = 0.05
) -> Succession:
    """Designs by (work at N=80, exponent) and the largest size that each solves."""

    def simulate(
        name: str, n: int, max_work: int, seed: int, core_s: float, settings: DesignsSettings
    ) -> Run:
        side = int(name == "new")
        work, exponent = (old, new)[side]
        random = np.random.default_rng([side, n, seed % 2**32])
        needed = round(work * (n / 80) ** exponent * math.exp(spread * random.normal()))
        return Run(needed, 0.4, needed) if n <= largest[1 - side] else Run(3, 0.9, max_work, limit=max_work)

    champion, challenger = Contender("old", "old", largest[1]), Contender("new", "new", largest[0])
    return decide_champion(
        challenger,
        champion,
        champion,
        executor=Inline(),
        settings=SETTINGS,
        cycle_seeds=CycleSeeds(3, "designs", "0004"),
        profile="test",
        simulate=simulate,
    )


def test_a_challenger_that_is_ahead_where_it_was_solved_and_scales_worse_is_not_promoted() -> None:
    result = duel((40_000, 4.0), (50_000, 2.0), (80, 80))
    row = result.decisions[0]
    assert result.champion_id == "old" and not row["wins"]
    assert (row["N"], row["target"], row["law"]) == (80, 160, "power law") and row["ratio"] == pytest.approx(
        1.25 / 4, rel=0.2
    )
    assert "by the power law through N=20, 28, 40, 57, 80 at N=160 a ratio of" in row["reason"]


def test_a_challenger_that_is_behind_where_it_was_solved_and_scales_better_is_promoted() -> None:
    result = duel((60_000, 2.0), (50_000, 4.0), (80, 80))
    assert result.champion_id == "new" and result.decisions[0]["ratio"] == pytest.approx(4 / 1.2, rel=0.2)
    assert (
        DECISIONS.frame(result.decisions).height == 2
        and DUELS.repeated_keys(DUELS.frame(result.trials)).is_empty()
    )


def test_a_gain_that_does_not_reach_beyond_the_error_at_the_target_is_none() -> None:
    assert duel((40_000, 3.0), (50_000, 3.0), (80, 80), spread=0.05).champion_id == "new"
    assert duel((40_000, 3.0), (50_000, 3.0), (80, 80), spread=0.6).champion_id == "old"


def test_a_size_that_only_the_incumbent_solves_keeps_it_champion() -> None:
    result = duel((10_000, 2.0), (50_000, 2.0), (57, 80))
    assert result.champion_id == "old" and result.decisions[0]["reason"].endswith(
        "who solves fewer runs does not win"
    )


def test_a_size_that_the_incumbent_did_not_solve_bounds_its_work_from_below() -> None:
    result = duel((50_000, 2.0), (50_000, 2.0), (80, 57))
    row = result.decisions[0]
    assert (result.champion_id, row["bound"], row["sizes"]) == ("new", "lower bound", [57, 80])
    differences = np.array([[0.0, 0.0, 3.0, 0.0]] * 4)
    for law in LAWS:
        item = gains_by_law(differences, [True, False, False, False], SIZES, 160, law)
        assert all(
            weight >= 0
            for n, weight in zip(item.sizes, line_weights(item.sizes, 160, law), strict=True)
            if n == 28
        )


@pytest.mark.parametrize("law", LAWS)
def test_a_line_is_continued_exactly_and_its_weights_sum_to_one(law: str) -> None:
    line = np.array([1.0 - 0.3 * LAWS[law](n) for n in SIZES])
    weights = line_weights(SIZES, 160, law)
    assert weights.sum() == pytest.approx(1) and line @ weights == pytest.approx(1.0 - 0.3 * LAWS[law](160))
    assert line_weights([80], 160, law).tolist() == [1.0]
    item = gains_by_law(np.stack([line, line]), [False] * 4, SIZES, 160, law)
    assert item.gains == pytest.approx([line @ weights] * 2) and item.sizes == tuple(SIZES)
    alone = gains_by_law(np.array([[0.5], [0.4]]), [False], [80], 160, law)
    assert (alone.target, alone.gains) == (80, (0.5, 0.4))


def test_gains_that_end_before_the_target_are_not_continued() -> None:
    random = np.random.default_rng(1)
    falling = np.array([0.5, 0.5, 0.5, 0.0]) + 0.05 * random.normal(size=(8, 4))
    assert bends(falling, SIZES, "power law")
    assert np.mean(gains_by_law(falling, [False] * 4, SIZES, 80, "power law").gains) < 0.1
    assert not bends(np.zeros((8, 2)), [57, 80], "power law") and not bends(
        np.zeros((1, 4)), SIZES, "power law"
    )


def test_the_law_that_the_work_follows_is_taken_and_both_where_it_is_open() -> None:
    sizes = [40, 57, 80, 113, 160]
    power, exponential = (
        {n: 1 + slope * LAWS[law](n) for n in sizes}
        for law, slope in (("power law", 2.5), ("exponential law", 0.03))
    )
    assert plausible_laws([power, power]) == ["power law"] and plausible_laws([exponential, exponential]) == [
        "exponential law"
    ]
    assert plausible_laws([power, exponential]) == list(LAWS) == plausible_laws([{40: 1.0}, {40: 2.0}])


def test_a_duel_measures_the_largest_size_and_up_to_four_before_it() -> None:
    assert law_sizes([10, 14, 20, 28, 40, 57, 80], 57) == (14, 20, 28, 40, 57) and law_sizes(
        [10, 14], 14
    ) == (10, 14)
