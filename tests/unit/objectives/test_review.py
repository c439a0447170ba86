"""The meta review finds each planted fault, moves multipliers gradually, and says where the search stands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evolake.designs.roles.objective import families_wanted
from evolake.errors import InputError
from evolake.objectives.consensus import aggregate
from evolake.objectives.phase import Progress, phase_of, words_on_phase
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, new_objective
from evolake.objectives.review import (
    Reviewed,
    echo_chambers,
    failed_designs,
    failures_above,
    next_multiplier,
    review,
    spokesman,
)

DESIGNS = 40


def planted() -> tuple[list[Reviewed], np.ndarray, np.ndarray]:
    """Ten objectives: four that nearly repeat each other, three sound ones, and one of each fault."""
    rng = np.random.default_rng(0)
    quality = np.arange(DESIGNS, dtype=float)
    reach = np.where(quality < 30, 320.0, 20.0)
    echo = quality + rng.normal(0, 6, DESIGNS)
    rows = [echo + rng.normal(0, 0.5, DESIGNS) for _ in range(4)]
    rows += [quality + rng.normal(0, 8, DESIGNS) for _ in range(3)]
    rows.append(np.where(quality < 30, quality, quality - 100))
    rows.append(-quality + rng.normal(0, 3, DESIGNS))
    rows.append(np.floor(quality / 35))
    families = ["extrapolation"] * 4 + ["reach", "headroom", "tail", "restart", "cliff", "bottleneck"]
    return [Reviewed(f"o{i}", family) for i, family in enumerate(families)], np.array(rows), reach


def judged(progress=()):
    objectives, scores, reach = planted()
    return review(objectives, scores, aggregate(scores, [0] * 10, 0), reach, list(progress))


def test_each_planted_fault_is_found():
    findings = [analysis.findings for analysis in judged().objectives]
    assert sorted(findings[:4]) == [(), ("echo",), ("echo",), ("echo",)]
    assert findings[4:7] == [(), (), ()]
    assert "ranks failures high" in findings[7]
    assert findings[8] == ("anti-correlated", "ranks failures high")
    assert findings[9] == ("does not tell apart",)


def test_multipliers_move_one_step_and_every_objective_has_one():
    result = judged()
    lowered = {analysis.objective_id for analysis in result.objectives if analysis.findings}
    multipliers = {analysis.objective_id: analysis.multiplier for analysis in result.objectives}
    assert multipliers == {f"o{i}": 0.7 if f"o{i}" in lowered else 1.0 for i in range(10)}


def test_the_words_name_what_was_found_and_what_is_missing():
    result = judged()
    assert result.phase == "exploring"
    assert "3 echo" in result.assessment
    assert "1 anti-correlated" in result.assessment
    assert "No more of extrapolation: 3 of them say the same." in result.guidance
    assert "unsolved_fraction" in result.guidance
    assert "median tau -" in result.objectives[8].assessment


def test_the_families_that_the_guidance_names_steer_the_next_draw():
    counts = Counter(objective.family for objective in planted()[0])
    missing = [
        name
        for name in OBJECTIVE_FAMILIES
        if counts[name] == min(counts[item] for item in OBJECTIVE_FAMILIES)
    ]
    wanted = families_wanted(judged().guidance, [])
    assert wanted == missing[:3]
    shares = []
    for asked in ([], wanted):
        rng = np.random.default_rng(0)
        shares.append(sum(new_objective(rng, [], asked).family in wanted for _ in range(200)) / 200)
    assert shares[1] > 1.5 * shares[0] > 0


def test_a_sound_portfolio_is_left_alone():
    rng = np.random.default_rng(1)
    scores = np.arange(30) + rng.normal(0, 9, size=(5, 30))
    result = review(
        [Reviewed(f"o{i}", "reach") for i in range(5)],
        scores,
        aggregate(scores, [0] * 5, 0),
        np.full(30, 100.0),
        [],
    )
    assert {objective.multiplier for objective in result.objectives} == {1.0}
    said = (
        "No cycle has decided on a champion yet; 30 were measured, and the largest size that one solved "
        "is N=100."
    )
    assert result.assessment == f"{said} The 5 objectives are sound."
    assert (
        words_on_phase("exploring", [], [0.0, 0.0])
        == "No cycle has decided on a champion yet; 2 were measured, and none solved any size."
    )
    assert words_on_phase("exploring", []) == "Nothing has been measured yet."


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 5), (2, 1), (3, 2)])
def test_tiny_portfolios_are_reviewed_without_fuss(k, n):
    scores = np.arange(k * n, dtype=float).reshape(k, n)
    result = review(
        [Reviewed(str(i), "baseline") for i in range(k)],
        scores,
        aggregate(scores, [0] * k, 0),
        np.ones(n),
        [],
    )
    assert len(result.objectives) == k


def test_parts_that_do_not_fit_are_refused():
    objectives, scores, reach = planted()
    with pytest.raises(InputError, match="do not fit"):
        review(objectives[:3], scores, aggregate(scores, [0] * 10, 0), reach, [])


def test_a_lasting_fault_silences_within_nine_reviews_and_recovery_is_slower():
    multiplier, path = 1.0, []
    while multiplier > 0:
        multiplier = next_multiplier(multiplier, ("anti-correlated",), 0)
        path.append(multiplier)
    assert path[:3] == [0.7, 0.49, 0.343]
    assert len(path) == 9
    recovery = []
    while multiplier < 1:
        multiplier = next_multiplier(multiplier, (), 0)
        recovery.append(multiplier)
    assert recovery[:3] == [0.05, 0.055, 0.0605]
    assert len(recovery) > 25


def test_an_echo_keeps_its_share_of_the_blocks_voice():
    multiplier = 1.0
    for _ in range(20):
        multiplier = next_multiplier(multiplier, ("echo",), 4)
    assert multiplier == 0.25
    assert next_multiplier(0.1, ("echo",), 4) == pytest.approx(0.11)
    assert next_multiplier(0.24, ("echo",), 4) == 0.25
    assert next_multiplier(0.5, ("anti-correlated", "echo"), 4) == 0.35


def test_a_multiplier_above_one_is_a_human_choice_and_stays():
    assert next_multiplier(2.0, (), 0) == 2.0
    assert next_multiplier(2.0, ("anti-correlated",), 0) == 1.4


def test_blocks_are_tight_and_of_three_at_least():
    tau = np.eye(7)
    for block, value in (((0, 1, 2), 0.9), ((3, 4), 0.99), ((5, 6), 0.8)):
        for i in block:
            for j in block:
                if i != j:
                    tau[i, j] = value
    assert echo_chambers(tau) == [(0, 1, 2)]
    assert echo_chambers(np.eye(2)) == []


def test_the_spokesman_agrees_most_with_its_block():
    rows = np.array([[0, 1, 2, 3, 4], [0, 1, 2, 4, 3], [1, 0, 2, 4, 3.0]])
    assert spokesman((0, 1, 2), aggregate(rows, [0, 0, 0], 0)) == 1
    same = np.tile(np.arange(5.0), (3, 1))
    assert spokesman((0, 1, 2), aggregate(same, [0, 0, 0], 0)) == 2


def test_failures_above_counts_pairs():
    ranks = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1.5, 1.5, 1.5, 1.5]], dtype=float)
    np.testing.assert_allclose(failures_above(ranks, np.array([False, False, True, True])), [0, 1, 0.5])
    np.testing.assert_array_equal(failures_above(ranks, np.zeros(4, dtype=bool)), [0, 0, 0])
    np.testing.assert_array_equal(
        failed_designs(np.array([0.0, 20.0, 80.0, 320.0])), [True, True, False, False]
    )


def progress(*pairs) -> list[Progress]:
    return [Progress(f"{cycle:04d}", reach, steps) for cycle, (reach, steps) in enumerate(pairs, start=1)]


@pytest.mark.parametrize(
    ("history", "phase"),
    [
        (progress(), "exploring"),
        (progress((80, 500), (160, 900), (320, 3000)), "exploring"),
        (progress((80, 500), (80, 500), (80, 500), (160, 900)), "converging"),
        (progress((160, 900), (160, 900), (160, 800), (160, 810)), "refining"),
        (progress((160, 900), (160, 880), (160, 900), (80, 100)), "stuck"),
        (progress((80, 100), *[(160, 900)] * 6), "stuck"),
        (progress(*[(160, 900)] * 7), "breakthrough_needed"),
    ],
)
def test_the_phase_follows_the_champions(history, phase):
    assert phase_of(history) == phase


def test_when_stuck_the_frontier_is_looked_at_first():
    result = judged(progress(*[(160, 900)] * 7))
    assert result.phase == "breakthrough_needed"
    assert set(families_wanted(result.guidance, [])) == {"cliff", "tail", "bottleneck"}
    assert result.assessment.startswith(
        "No champion has improved for 6 cycles; more of the same will not do. Best so far: N=160 in 900 "
        "median steps"
    )
