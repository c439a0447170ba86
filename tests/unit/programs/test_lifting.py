"""What a program returns is written in its place, to the last digit; and vectors are searched without losing
what the best one had."""

from __future__ import annotations

import json
import types
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evolake.programs.model.program_text import END, START, outside_change
from evolake.programs.sandbox.polishing import MOST, kind_of, numbers_of, polish, sound_state, with_numbers
from evolake.programs.search.lifting import WIDEST, lifted
from evolake.programs.search.numbers import numbers_in
from evolake.programs.search.numbers import with_numbers as text_with_numbers

TEXT = """import math

FIXED = 3


# EVOLVE-BLOCK-START
STEP = 0.5


def helper(k):
    return k * STEP


def used_outside():
    return 1


def place({args}):
    {doc}{body}
# EVOLVE-BLOCK-END


def after():
    return used_outside() + FIXED
"""
numbers = st.floats(-1e9, 1e9) | st.integers(-(10**9), 10**9) | st.booleans()
values = st.recursive(
    st.lists(numbers, min_size=1, max_size=40),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=6) | st.dictionaries(st.text(max_size=5), inner, min_size=1)
    ),
    max_leaves=20,
)
BODIES = (
    "points = [helper(k) for k in range(4)]\n    # a comment\n    return points",
    "@staticmethod\n    def inner():\n        return [helper(1)]\n    return inner()",
    "return [helper(k) for k in range(4)]",
)


def run(text: str, name: str = "place") -> Any:
    space: dict[str, Any] = {}
    exec(text, space)
    return space[name](0)


@pytest.mark.parametrize("doc", ["", '"""What it\n    places."""\n    '])
@pytest.mark.parametrize("body", BODIES)
@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(value=values)
def test_a_lifted_function_returns_the_value_to_the_last_digit(doc, body, value):
    text = TEXT.format(args="case", doc=doc, body=body)
    written = lifted(text, "place", "p.py", value)
    assert written is not None and outside_change(text, written, "p.py") == ""
    assert json.dumps(run(written)) == json.dumps(value)
    assert "helper" not in written and "STEP" not in written and "used_outside():" in written
    assert ("What it" in written) == bool(doc)


def test_literals_stand_some_in_a_line():
    text = TEXT.format(args="case", doc="", body=BODIES[0])
    written = lifted(text, "place", "p.py", [[k / 7, k / 3] for k in range(40)])
    assert written is not None and 15 < len(written.splitlines()) < 50
    assert max(map(len, written.splitlines())) <= WIDEST


def test_a_body_on_the_line_of_its_name_is_lifted_too():
    text = "# EVOLVE-BLOCK-START\ndef place(case): return [0.5] * 3\n# EVOLVE-BLOCK-END\n"
    written = lifted(text, "place", "p.py", [0.1, 0.2])
    assert written is not None and run(written) == [0.1, 0.2]


@pytest.mark.parametrize(
    "text",
    [
        "# {S}\nx = 1\n# {E}\ndef place(case):\n    return [1.0]\n",
        "# {S}\ndef place(case):\n    return [1.0]\n\n\nclass place:\n    pass\n# {E}\n",
        "import functools\n# {S}\n@functools.cache\ndef place(case):\n    return [1.0]\n# {E}\n",
        "# {S}\nplace = lambda case: [1.0]\n# {E}\n",
    ],
)
def test_what_may_not_be_written_anew_is_left(text):
    assert lifted(text.format(S=START, E=END), "place", "p.py", [2.0]) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        [],
        {},
        [1.0, "2"],
        [float("nan")],
        [float("inf")],
        [10**400],
        [1e300],
        [0.5] * (MOST + 1),
        [[None]],
    ],
)
def test_a_value_that_is_no_vector_of_usual_numbers_is_none(value):
    assert numbers_of(value) is None


def test_a_value_that_is_nested_too_deep_is_none():
    value: Any = [1.0]
    for _ in range(500):
        value = [value]
    assert numbers_of(value) is None


def test_the_kinds_of_numbers():
    assert kind_of([1, 2.0]) == "real" and kind_of([3, 1, 2]) == "order" and kind_of([True, False]) == "whole"
    assert kind_of([0, 1, 1]) == "whole" and kind_of([4, 4]) == "whole"


@settings(max_examples=50)
@given(value=values)
def test_a_value_is_filled_as_it_was_read(value):
    found = numbers_of(value)
    assert found is not None and json.dumps(with_numbers(value, found)) == json.dumps(value)


def test_a_number_that_keeps_its_value_keeps_its_digits():
    texts = {"p.py": "# EVOLVE-BLOCK-START\nA = [0.12345678901234567, 0.5]\n# EVOLVE-BLOCK-END\n"}
    first, second = numbers_in(texts)
    moved = text_with_numbers(texts, [(first, first.value), (second, 0.75)])
    assert "0.12345678901234567, 0.75" in moved["p.py"]


def searched(
    value: Any, score: Any, *, seconds: float = 0.2, parts: int = 1, **module: Any
) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for _ in range(parts):
        request = {"value": value, "cases": [[0]], "seconds": seconds, "seed": 1, "state": state}
        made = types.ModuleType("evaluator")
        vars(made).update(module)
        state = polish(made, request, lambda cases, results: score(results[0]["output"]))
    return state


def test_numbers_are_polished_by_the_score_alone_and_parts_go_on_with_each_other():
    def score(output: list[float]) -> float:
        return -max(abs(item - place) for place, item in enumerate(output))

    one = searched([5.0, 5.0, 5.0, 5.0], score, seconds=1.0)
    two = searched([5.0, 5.0, 5.0, 5.0], score, seconds=1.0, parts=2)
    assert sound_state(one) and one["start"] == -5.0 and one["score"] > -1e-6
    assert two["score"] >= one["score"] and two["seconds"] > one["seconds"] and two["parts"] == 2


def test_numbers_are_polished_by_terms_and_limits():
    """Two numbers as far apart as possible, between 0 and 1."""

    def smooth(output: list[float]) -> tuple[list[float], list[float]]:
        return [output[0] - output[1]], [output[1], 1 - output[0]]

    def score(output: list[float]) -> float:
        return output[0] - output[1] if min(output) >= 0 and max(output) <= 1 else 0.0

    state = searched([0.5, 0.4], score, seconds=1.0, smooth=smooth)
    assert 1 - 1e-9 < state["score"] <= 1 and state["by"] == "its terms"


def test_hops_leave_an_optimum_and_only_ends_that_may_be_better_are_scored():
    """Six points as far apart as possible on two stretches that no step leads between."""

    def smooth(output: list[list[float]]) -> tuple[list[float], list[float]]:
        places = sorted(item for [item] in output)
        apart = [right - left for left, right in pairwise(places)]
        return apart, [*((item - 1) * (item - 2) for item in places), places[0], 3 - places[-1]]

    scored: list[float] = []

    def score(output: list[list[float]]) -> float:
        apart, limits = smooth(output)
        scored.append(min(apart) if min(limits) >= -1e-7 else 0.0)
        return scored[-1]

    state = searched([[0.1], [0.2], [0.5], [0.7], [0.9], [2.9]], score, seconds=2.0, smooth=smooth)
    assert state["score"] == pytest.approx(0.5)  # 0.25 without a point on the other stretch more
    assert all(
        one >= 0.98 * max(scored[: place + 1]) for place, one in enumerate(scored[:-1]) if one > 0 and place
    )


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (lambda: {}["x" * 900], "smooth: KeyError: 'xx"),
        (lambda: ([float("nan")], [0.0]), "no finite terms"),
        (lambda: ([], [0.0]), "no finite terms"),
    ],
)
def test_terms_that_are_of_no_use_are_named_and_the_score_is_climbed(terms, said):
    state = searched([5.0, 5.0], lambda output: -max(map(abs, output)), smooth=lambda output: terms())
    assert state["by"].startswith("its score (") and said in state["by"]
    assert sound_state(state) and state["score"] > state["start"]


@pytest.mark.parametrize("value", [[0, 1, 2, 3, 4, 5], [False] * 6, [7, 7, 7, 0, 0, 0]])
def test_whole_numbers_are_moved_and_stay_of_their_kind(value):
    state = searched(value, lambda output: sum(place * item for place, item in enumerate(output[::-1])))
    assert state["score"] > state["start"] and len(state["numbers"]) == 6
    assert {type(item) for item in state["numbers"]} == {type(value[0])}
    if value[1] == 1:
        assert sorted(state["numbers"]) == value


@pytest.mark.parametrize("found", [float("nan"), float("inf"), None, "text"])
def test_a_score_that_is_none_counts_as_the_worst(found):
    state = searched([1.0, 2.0], lambda output: found if output != [1.0, 2.0] else 0.0)
    assert state["score"] is None and state["start"] == 0.0
    assert sound_state(state)


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": "x"},
        {"numbers": [float("nan")]},
        {"score": None},
        {"seconds": "1"},
        {"now": [[1]]},
        {"by": "x" * 1000},
        {"by": 1},
    ],
)
def test_a_state_that_is_none_is_not_continued(change):
    state = {
        "start": 0.0,
        "seconds": 1.0,
        "evaluations": 3,
        "parts": 1,
        "numbers": [1.0],
        "score": 1.0,
        "now": None,
        "by": "its score",
    }
    assert sound_state(state) and not sound_state(state | change)
