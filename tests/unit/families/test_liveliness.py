"""Worlds that are dead or can be guessed are not drawn, and the gate names the level at which a guesser is
right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evolake.families.gates.checkers import guessable, steps_alive
from evolake.families.model.contract import Family
from evolake.families.model.guessing import candidate_shares, constant_share, guesses_by_level, pair_share
from evolake.families.worlds.actions import bound_actions
from evolake.families.worlds.liveliness import Steps, is_alive
from evolake.families.worlds.process import _changes, run_world_of
from evolake.families.worlds.run_themes import RUN_THEMES
from evolake.families.worlds.runs import RUNS

KNOWN = {action.key: action for action in bound_actions()}
DEAD = {
    "four or five": (
        {"one": "flip_empty_a", "two": "flip", "three": "flip_more_ba", "close": "move_ab_1"},
        "end",
    ),
    "a dial that stands still": (
        {"one": "fill_b", "two": "move_ba_3", "three": "follow_b", "close": "double_a"},
        "end",
    ),
    "a dog that never wakes": (
        {"one": "take_a_2", "two": "move_ba_3", "three": "put_a_4", "close": "flip_more_ba"},
        "changes",
    ),
}
"""The rules of worlds that were accepted: one of two answers was right in nearly all instances, or hardly a
turn changed anything."""


@pytest.mark.parametrize("name", DEAD)
def test_a_world_in_which_nothing_happens_or_a_constant_guesses_is_not_alive(name):
    rules, asked = DEAD[name]
    other = iter(("halve_a", "clear_b", "swap_ab", "fill_a"))
    family = run_world_of(
        RUN_THEMES[0],
        {point: [KNOWN[key], KNOWN[next(other)]] for point, key in rules.items()},
        next(q for q in RUNS if q.name == asked),
        "a",
    )
    assert not is_alive(family, Steps("events", _changes(family)))


def living() -> Family:
    rules = {
        "one": ["put_a_3", "clear_b"],
        "two": ["take_a_2", "fill_b"],
        "three": ["move_ab_3", "shift_ba"],
        "close": ["halve_b", "clear_a"],
    }
    return run_world_of(
        RUN_THEMES[0],
        {point: [KNOWN[key] for key in keys] for point, keys in rules.items()},
        next(q for q in RUNS if q.name == "course"),
        "a",
    )


def test_a_world_whose_stores_move_is_alive():
    family = living()
    assert is_alive(family, Steps("events", _changes(family)))


def test_a_question_that_the_late_steps_do_not_decide_is_not_alive():
    """The same run, asked for what an early step decides: a source that reads the first turns only."""
    family = living()
    early = replace(
        family,
        validator=family.validator.replace(
            "trace = played(start, inputs)", "trace = played(start, inputs)[:4]"
        ),
    )
    assert early.validator != family.validator
    assert not is_alive(early, Steps("events", _changes(family)))


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
