"""Options read from sources, and the moves of their defaults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.solvers.edits.anchors import Span
from evolake.solvers.edits.draw import new_tunable
from evolake.solvers.edits.tunables import Tunable, read_tunables

NOWHERE = Span("", 0, 0)


def test_declared_options_are_read_with_kind_default_range_and_place(small_solver) -> None:
    result = {item.name: item for item in read_tunables(small_solver, "minisat-options")}
    assert {name: (item.kind, item.default) for name, item in result.items()} == {
        "ccmin-mode": ("int", 2),
        "grow": ("int", 0),
        "luby": ("bool", True),
        "rfirst": ("int", 100),
        "var-decay": ("float", 0.95),
    }
    assert (result["rfirst"].low, result["rfirst"].high, result["rfirst"].text) == (
        1,
        2**31 - 1,
        "The first interval",
    )
    decay = result["var-decay"]
    assert 0 < decay.low < 1e-8 and 1 - 1e-8 < decay.high < 1
    assert small_solver["src/core/Solver.cc"][decay.span.start : decay.span.end] == "0.95"


def test_seeds_options_out_of_their_own_range_and_defaults_that_are_no_literal_are_left_out(
    small_solver,
) -> None:
    assert not {"rnd-seed", "broken", "named"} & {
        item.name for item in read_tunables(small_solver, "minisat-options")
    }


def test_options_of_cadical_are_read_without_those_that_check_proofs(small_options) -> None:
    result = [
        (item.name, item.default, item.low, item.high)
        for item in read_tunables(small_options, "cadical-options")
    ]
    assert result == [("chrono", 1, 0, 2), ("elimaxeff", 2_000_000_000, 0, 2e9)]


@pytest.mark.parametrize(
    ("tunable", "value", "problem"),
    [
        (Tunable("a", "float", 0.5, 0, 1, "", NOWHERE), 2.0, "2.0 is outside 0..1"),
        (Tunable("a", "int", 5, 0, 9, "", NOWHERE), 2.5, "2.5 is not a whole number"),
        (Tunable("a", "int", 5, 0, 9, "", NOWHERE), True, "True is not a number"),
        (Tunable("a", "bool", True, 0, 1, "", NOWHERE), 1, "1 is not true or false"),
        (Tunable("a", "float", 0.5, 0, 1, "", NOWHERE), math.nan, "nan is not a number"),
        (Tunable("a", "bool", True, 0, 1, "", NOWHERE), False, None),
    ],
)
def test_a_value_that_does_not_fit_is_named(tunable: Tunable, value, problem: str | None) -> None:
    assert tunable.problem(value) == problem


RANGES = st.sampled_from(
    [
        ("float", 0.95, 1e-9, 1 - 1e-9),
        ("float", 0.8, 1e-9, 1 - 1e-9),
        ("float", 0.0, 0.0, 1.0),
        ("float", 2.0, 1 + 1e-9, math.inf),
        ("float", 0.2, 1e-9, math.inf),
        ("int", 100, 1, 2**31 - 1),
        ("int", 0, -(2**31), 2**31 - 1),
        ("int", 2, 0, 2),
        ("int", -1, -1, 2**31 - 1),
        ("int", 1, 0, 1),
        ("int", 5, 2, 2**31 - 1),
        ("int", 2_000_000_000, 0, 2_000_000_000),
        ("bool", True, 0, 1),
    ]
)


@given(RANGES, st.integers(0, 2**32 - 1))
def test_a_move_stays_within_the_range_and_is_a_move(range_, seed: int) -> None:
    kind, default, low, high = range_
    tunable = Tunable("option", kind, default, low, high, "", NOWHERE)
    edit = new_tunable(tunable, np.random.default_rng(seed))
    assert tunable.problem(edit.parameters["value"]) is None
    assert edit.parameters["value"] != default
    assert edit == new_tunable(tunable, np.random.default_rng(seed))
