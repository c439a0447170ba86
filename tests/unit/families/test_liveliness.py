"""Worlds that are dead or can be guessed are not drawn, and the gate names the level at which a guesser is
right."""

from typing import Any

import pytest

from evolake.families.gates.checkers import guessable, steps_alive
from evolake.families.model.guessing import candidate_shares, constant_share, guesses_by_level, pair_share


def test_a_guesser_is_measured_on_other_instances_than_it_has_seen():
    distinct = [str(number) for number in range(24)]
    assert (constant_share(distinct), pair_share(distinct)) == (1 / 24, 0.0)
    assert pair_share(["4", "4", "5", "5"] * 6) == 1.0
    assert guesses_by_level([(1, "a"), (1, "a"), (5, "b"), (5, "c")]) == [(1, 2, 1.0, 1.0), (5, 2, 0.5, 0.0)]


def test_a_guess_at_a_question_with_many_answers_counts_where_it_is_accepted():
    assert candidate_shares([[True, False], [True, False], [False, True], [True, False]]) == (0.75, 1.0)
    assert candidate_shares([[False] * 3] * 4) == (0.0, 0.0)
    assert candidate_shares([]) == candidate_shares([[]] * 5) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("guesses", "said"),
    [
        ([[1, 24, 0.1, 0.1], [10, 24, 0.2, 0.1]], None),
        (
            [[1, 24, 0.1, 0.1], [10, 24, 0.3, 0.1]],
            "one answer is right in 30% of the 24 instances at difficulty 10",
        ),
        (
            [[1, 24, 0.1, 0.5], [10, 24, 0.2, 0.1]],
            "one of the two most common answers is right in 50% of the 24 instances at difficulty 1",
        ),
    ],
)
def test_the_gate_looks_at_each_level_by_itself(guesses, said):
    evidence: dict[str, Any] = {"guesses": guesses, "made_by": "switch"}
    finding = guessable(evidence, constant=0.25, pair=0.25, of={"seed": 1.0})
    assert (finding is None) if said is None else finding is not None and said in finding.reason
    assert guessable({**evidence, "made_by": "seed"}, constant=0.25, pair=0.25, of={"seed": 1.0}) is None


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (None, None),
        ([[1, 0.6, 0.1], [5, 0.6, 0.5], [10, 0.7, 0.4]], None),
        (
            [[1, 0.6, 0.9], [5, 0.6, 0.9], [10, 0.2, 0.9]],
            "20% of the steps at difficulty 10 change the state",
        ),
        (
            [[1, 0.6, 0.9], [5, 0.6, 0.1], [10, 0.7, 0.2]],
            "15% of the answers at difficulty 5 and above are others",
        ),
    ],
)
def test_a_gate_looks_at_the_steps_of_each_level(steps, said):
    finding = steps_alive({"steps": steps}, changing=0.5, deciding=0.3)
    assert (finding is None) if said is None else finding is not None and said in finding.reason
