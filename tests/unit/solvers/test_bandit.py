"""The bandit over moves: even odds before anything is known, most draws for what pays, and the same draws
from the same rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evolake.solvers.roles.bandit import (
    BLOCKED_WORTH,
    LARGEST_WORTH,
    MoveResult,
    arm_posteriors,
    draw_arm,
    draw_operator,
    tries_on,
    worth_of,
)
from evolake.solvers.roles.models import Credit

KEYS = [f"tunable:o{number}" for number in range(40)]
TOUCHED = {key: [f"f{number % 5}.cpp"] for number, key in enumerate(KEYS)}
OPERATORS = ["patch", "tunable", "mutate", "crossover", "combine"]


def credit(
    number: int, key: str, savings: dict[str, float], *, base: str = "b", blocked: bool = False
) -> Credit:
    return Credit(
        variant_id=f"{number:012d}",
        base=base,
        operator="tunable",
        changed=[key],
        blocked=blocked,
        savings=savings,
    )


def test_before_anything_is_known_all_arms_and_all_operators_have_even_odds() -> None:
    random = np.random.default_rng(1)
    for names, draw in (
        (KEYS, lambda: draw_arm(KEYS, [], TOUCHED, random)),
        (OPERATORS, lambda: draw_operator(OPERATORS, [], random)),
    ):
        drawn = Counter(draw() for _ in range(200 * len(names)))
        spread = sum((drawn[name] - 200) ** 2 / 200 for name in names) / (len(names) - 1)
        assert set(drawn) == set(names) and spread < 2, "chi squared by degree of freedom"


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_gain_gets_most_draws(seed: int) -> None:
    """Each draw is tried with a noise of 5 %; one arm of forty saves 30 %, the others lose 3 % on average."""
    random, tried, drawn = np.random.default_rng(seed), [], Counter()
    for _ in range(300):
        key = draw_arm(KEYS, tried, TOUCHED, random)
        drawn[key] += 1
        tried.append(
            MoveResult(
                "tunable", (key,), (0.3 if key == KEYS[7] else -0.03) + 0.05 * float(random.standard_normal())
            )
        )
    assert drawn.most_common(1)[0][0] == KEYS[7] and drawn[KEYS[7]] > 150


def test_an_operator_that_pays_gets_most_draws_and_none_is_given_up() -> None:
    random, tried = np.random.default_rng(3), []
    for _ in range(400):
        name = draw_operator(OPERATORS, tried, random)
        tried.append(
            MoveResult(name, (), (0.1 if name == "combine" else 0.0) + 0.1 * float(random.standard_normal()))
        )
    drawn = Counter(item.operator for item in tried)
    assert drawn["combine"] > 250 and all(drawn[name] >= 3 for name in OPERATORS)


def test_a_saving_counts_by_what_the_parent_spends_on_the_family() -> None:
    savings = {"random": 0.4, "miter": -0.1}
    assert worth_of(savings, {"random": 0.75, "miter": 0.25}) == pytest.approx(0.275)
    assert worth_of(savings, {"random": 0.1, "miter": 0.9}) == pytest.approx(-0.05)
    assert worth_of(savings, {}) == pytest.approx(0.15)
    assert worth_of(savings, {"unknown": 1.0}) == pytest.approx(0.15), (
        "a family of which nothing is known counts as the mean"
    )
    assert worth_of({"random": -9.0}, {"random": 1.0}) == -LARGEST_WORTH


def test_the_same_history_pays_differently_on_parents_that_spend_their_time_elsewhere() -> None:
    credits = [credit(number, KEYS[0], {"x": 0.4, "y": -0.4}) for number in range(4)]
    credits += [credit(number, KEYS[1], {"x": -0.4, "y": 0.4}) for number in range(4, 8)]
    random = np.random.default_rng(2)
    for costs, better in (({"x": 0.9, "y": 0.1}, KEYS[0]), ({"x": 0.1, "y": 0.9}, KEYS[1])):
        tried = tries_on("b", costs, credits)
        drawn = Counter(draw_arm(KEYS[:2], tried, TOUCHED, random) for _ in range(200))
        assert drawn[better] > 180


def test_a_block_is_a_loss_and_what_was_never_measured_or_is_of_another_base_teaches_nothing() -> None:
    credits = [
        credit(1, KEYS[0], {}, blocked=True),
        credit(2, KEYS[1], {}),
        credit(3, KEYS[2], {"x": 0.2}, base="other"),
        credit(4, KEYS[3], {"x": 0.2}),
    ]
    assert [(item.changed, item.worth) for item in tries_on("b", {"x": 1.0}, credits)] == [
        ((KEYS[0],), BLOCKED_WORTH),
        ((KEYS[3],), 0.2),
    ]


def test_among_arms_without_a_try_those_of_files_that_paid_come_first() -> None:
    tried = [MoveResult("tunable", (KEYS[0],), 0.4), MoveResult("tunable", (KEYS[5],), 0.4)]  # both of f0.cpp
    posteriors = arm_posteriors(KEYS, tried, TOUCHED)
    assert (
        posteriors[KEYS[10]].mean > 0.2 and posteriors[KEYS[10]].tries == 0 and posteriors[KEYS[1]].mean == 0
    )
    random = np.random.default_rng(5)
    drawn = Counter(draw_arm(KEYS[1:5] + KEYS[10:11], tried, TOUCHED, random) for _ in range(400))
    assert drawn.most_common(1)[0] == (KEYS[10], drawn[KEYS[10]]) and drawn[KEYS[10]] > 200


def test_the_same_rows_and_the_same_seed_draw_the_same() -> None:
    tried = [MoveResult("tunable", (KEYS[number],), 0.01 * number) for number in range(20)]
    draws = [
        [(draw_operator(OPERATORS, tried, random), draw_arm(KEYS, tried, TOUCHED, random)) for _ in range(20)]
        for random in (np.random.default_rng(7), np.random.default_rng(7))
    ]
    assert draws[0] == draws[1]
