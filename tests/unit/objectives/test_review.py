"""The meta review finds each planted fault, moves multipliers gradually, and says where the search stands."""

import numpy as np
import pytest

from evolake.objectives.consensus import aggregate
from evolake.objectives.review import Progress, Reviewed, next_multiplier, review, words_on_phase

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


def progress(*pairs) -> list[Progress]:
    return [Progress(f"{cycle:04d}", reach, steps) for cycle, (reach, steps) in enumerate(pairs, start=1)]
