"""What may be claimed of the champion on formulas that nothing has seen: a gain only beyond the noise, and a
loss as plainly as a gain."""

from collections.abc import Callable
from typing import Any

import pytest
from solver_runs import run_row

from evolake.solvers.report.page import claim, compare_holdout, holdout_metrics, holdout_sentence
from evolake.solvers.tables import HOLDOUT_RUNS

FORMULAS = [f"f-{number}" for number in range(8)]
Cost = Callable[[int, int], float]


def rows(name: str, cost: Cost, passes: int = 2, **other: Any) -> list[dict[str, Any]]:
    """`cost`: (formula, pass) -> cpu seconds; 10 s and above is unsolved."""
    made = []
    for number, formula in enumerate(FORMULAS):
        for repeat in range(passes):
            spent = cost(number, repeat)
            if spent >= 10:
                status = "timeout"
            elif number % 2:
                status = "unsat"
            else:
                status = "sat"
            made.append(run_row(name, formula, status, spent, suite="holdout", repeat=repeat, **other))
    return made


def steady(seconds: float, noise: float = 0.01) -> Cost:
    return lambda number, repeat: seconds * (1 + number / 10) * (1 + noise * repeat)


def compared(champion: Cost, base: Cost = steady(2.0), passes: int = 2, **other: Any):
    return compare_holdout(
        HOLDOUT_RUNS.frame([*rows("c", champion, passes), *rows("b", base, passes, **other)]),
        "c",
        "b",
        "0003",
    )


def lucky(number: int, repeat: int) -> float:
    """Ten times faster on one formula, a bit slower on all others."""
    return steady(0.2 if number == 7 else 2.1)(number, repeat)


CASES = {
    "a gain beyond the noise": (steady(1.0), 2),
    "a loss beyond the noise": (steady(4.0), 2),
    "no gain beyond the noise": (steady(1.999), 2),
    "no gain can be claimed: it rests on too few formulas": (lucky, 2),
    "a loss: it solves fewer formulas than its seed": (
        lambda number, repeat: 10.0 if number == 0 else 0.1,
        2,
    ),
    "no claim: each formula was run once, so the noise of this host is not known": (steady(1.0), 1),
}


@pytest.mark.parametrize("said", CASES)
def test_what_is_claimed(said):
    champion, passes = CASES[said]
    result = compared(champion, passes=passes)
    assert result is not None
    assert claim(result) == said


def test_noise_as_large_as_the_gain_is_no_gain():
    result = compared(steady(1.8, noise=0.5), steady(2.0, noise=0.5))
    assert result is not None
    assert result.floor == pytest.approx(1.5)
    assert result.gain.estimate == pytest.approx(2.0 / 1.8)
    assert claim(result) == "no gain beyond the noise"


def test_a_slower_champion_on_few_formulas_is_called_slower():
    result = compared(lambda number, repeat: steady(9.0 if number == 0 else 1.9)(number, repeat))
    assert result is not None
    assert result.gain.low < 1 < result.gain.high
    assert claim(result) == "slower than its seed, though on too few formulas to be sure"


def test_only_runs_under_the_champions_newest_limits_are_compared():
    old = [
        *rows("b", steady(2.0), timeout_s=5.0, cycle="0001"),
        *rows("c", steady(9.0), timeout_s=5.0, cycle="0001"),
    ]
    new = [*rows("b", steady(2.0), cycle="0002"), *rows("c", steady(1.0), cycle="0003")]
    result = compare_holdout(HOLDOUT_RUNS.frame([*old, *new]), "c", "b", "0003")
    assert result is not None
    assert (result.gain.estimate, result.cycles, result.formulas, result.passes) == (
        pytest.approx(2.0),
        ("0002", "0003"),
        8,
        2,
    )
    assert set(holdout_metrics(HOLDOUT_RUNS.frame([*old, *new]), "c", ["b"])["timeout_s"]) == {10.0}


def test_with_nothing_to_compare_the_sentence_says_so():
    champion, base = {"variant_id": "c", "title": "C"}, {"variant_id": "b", "title": "B"}
    alone = compare_holdout(HOLDOUT_RUNS.frame(rows("c", steady(1.0))), "c", "b", "0003")
    assert alone is None
    assert (
        holdout_sentence(alone, champion, base)
        == "Holdout: the champion and its seed have no runs under the same limits."
    )
    assert compare_holdout(HOLDOUT_RUNS.frame(rows("c", steady(1.0))), "c", "c", "0003") is None
    assert "there is nothing to compare it with" in holdout_sentence(None, base, base)
    assert holdout_metrics(HOLDOUT_RUNS.empty(), "c", []).is_empty()
