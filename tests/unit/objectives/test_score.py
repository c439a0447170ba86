"""The scoring driver called in this process, and what the host makes of replies it must not trust."""

import json
from types import SimpleNamespace

import pytest

from evolake.objectives.score import read_reply
from evolake.objectives.score_driver import score_designs


def scored(body: str, *designs: list) -> list:
    source = "def objective(results):\n" + "\n".join("    " + line for line in body.splitlines())
    return score_designs(source, {"results": [json.dumps(rows) for rows in designs]})


def test_scores_come_back_in_order():
    sums = scored("return sum(row['N'] for row in results)", [{"N": 1}], [], [{"N": 2}, {"N": 3}])
    assert sums == [[1.0, "ok", ""], [0.0, "ok", ""], [5.0, "ok", ""]]


def test_an_exception_costs_only_its_own_design():
    assert scored("return 1 / results[0]['N']", [{"N": 2}], [{"N": 0}], []) == [
        [0.5, "ok", ""],
        [None, "error", "ZeroDivisionError: division by zero"],
        [None, "error", "IndexError: list index out of range"],
    ]


@pytest.mark.parametrize(
    "value",
    ["float('nan')", "float('inf')", "float('-inf')", "True", "None", "'1'", "[1.0]", "1j", "10**400"],
)
def test_what_is_not_a_finite_number_is_missing(value):
    [[score, status, reason]] = scored(f"return {value}", [])
    assert (score, status) == (None, "invalid")
    assert reason


@pytest.mark.parametrize(
    "value", ["2", "2.0", "__import__('numpy').float32(2)", "__import__('numpy').int64(2)"]
)
def test_any_real_number_will_do(value):
    assert scored(f"return {value}", []) == [[2.0, "ok", ""]]


def test_an_objective_cannot_touch_what_it_sees_of_other_designs():
    body = "global seen\nseen = globals().get('seen', 0) + 1\nresults[0]['N'] = -1\nreturn seen"
    rows = [{"N": 5}]
    assert scored(body, rows, rows) == [[1.0, "ok", ""]] * 2
    assert rows == [{"N": 5}]


def test_a_source_without_an_objective_scores_nothing():
    assert score_designs("x = 1", {"results": ["[]"]}) == [
        [None, "error", "the source defines no function named objective"]
    ]
    with pytest.raises(SyntaxError):
        score_designs("def", {"results": ["[]"]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([[1, "ok", ""], [2.5, "ok", ""]], [(1.0, "ok", ""), (2.5, "ok", "")]),
        (
            [[1, "error", "no"], [None, "ok", ""]],
            [(None, "error", "no"), (None, "invalid", "the score is None")],
        ),
        (
            [[float("-inf"), "ok", ""], [True, "ok", ""]],
            [(None, "invalid", "the score is -inf"), (None, "invalid", "the score is True")],
        ),
        (
            [["1", "ok", ""], [1.0, "won", ""]],
            [
                (None, "invalid", "the score is '1'"),
                (None, "protocol", "the reply has an entry of another form"),
            ],
        ),
        ([[1.0, "ok", ""]], [(None, "protocol", "the reply is not one entry a design")] * 2),
        ({"score": 1}, [(None, "protocol", "the reply is not one entry a design")] * 2),
        ([None, [1.0, "ok", 3]], [(None, "protocol", "the reply has an entry of another form")] * 2),
    ],
)
def test_replies_are_checked_for_their_form(value, expected):
    assert read_reply(SimpleNamespace(status="ok", value=value, reason=""), 2) == expected


def test_what_the_jail_ended_is_missing_for_every_design():
    assert (
        read_reply(SimpleNamespace(status="cpu", value=None, reason="more than 5 s"), 2)
        == [(None, "cpu", "more than 5 s")] * 2
    )
