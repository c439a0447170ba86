"""The page of an arms' comparison says what the numbers say, and no more."""

from typing import Any

import pytest

from evolake.prompts.report.arms import differences_table, verdict


def share(value: float) -> dict[str, float]:
    return {"share": value, "low": value - 0.1, "high": value + 0.1}


def arm(start: float, end: float, prompt: str = "[p1] Be brief.") -> dict[str, Any]:
    return {
        "rollouts": 96,
        "updates": 2,
        "prompts": 3,
        "prompt_id": "a" * 64,
        "prompt": prompt,
        "mean_reward": [0.1, 0.2],
        "heldout": [
            {"iteration": 0, "correct": share(start), "formatted": share(0.5)},
            {"iteration": 6, "correct": share(end), "formatted": share(0.7)},
        ],
    }


def comparison(low: float = -0.1, high: float = 0.3, p: float = 0.01, replicates: int = 1) -> dict[str, Any]:
    return {
        "policy": "tiny",
        "recipe": "espl",
        "backend": "operators",
        "source": "shipped",
        "train_problems": 9,
        "heldout_problems": 20,
        "iterations": 6,
        "seed": 0,
        "arms": {"rl": arm(0.2, 0.3), "espl": arm(0.2, 0.4, "<b>[p1] Think & check.</b>")},
        "differences": {
            "espl": {"base": "rl", "difference": 0.1, "low": low, "high": high, "p": p, "p_holm": p}
        },
        "replicates": replicates,
    }


def test_a_difference_inside_the_draw_of_problems_is_none():
    assert (
        verdict(comparison())
        == "No arm differs from RL only by more than the draw of held-out problems explains."
    )
    assert differences_table(comparison())["beyond_the_draw"].to_list() == ["no"]


@pytest.mark.parametrize(("low", "high", "word"), [(0.02, 0.2, "gains"), (-0.2, -0.02, "loses")])
def test_a_difference_beyond_it_is_said_with_its_direction(low, high, word):
    assert f"evolution with RL {word} 10.0%" in verdict(comparison(low, high))
    assert differences_table(comparison(low, high))["beyond_the_draw"].to_list() == ["yes"]


def test_a_difference_that_holm_does_not_leave_is_none_and_replicates_are_said():
    assert differences_table(comparison(0.02, 0.2, p=0.06))["beyond_the_draw"].to_list() == ["no"]
    said = verdict(comparison(0.02, 0.2, replicates=3))
    assert "of held-out problems and of runs" in said and "3 runs per arm" in said and "One seed" not in said
