"""Plain values cross as they are; anything else is refused, also where the other end is hostile."""

import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.gates.checkers import CHECKERS
from evolake.programs.gates import checkers as _registered  # noqa: F401
from evolake.programs.gates.reach import new_in
from evolake.programs.sandbox.values import HEAD, NotPlain, from_plain, receive, send, to_plain

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
)
KEYS = st.none() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner)
        | st.sets(KEYS)
        | st.frozensets(KEYS)
    ),
    max_leaves=20,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["list", "dict", "set", "array", "scalar", "bytes", "complex", "<f8", ""]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def shape_of(value):
    """Types all the way down."""
    if isinstance(value, dict):
        return dict, [(shape_of(key), shape_of(item)) for key, item in value.items()]
    return (
        (type(value), [shape_of(item) for item in value]) if isinstance(value, list | tuple) else type(value)
    )


@given(VALUES)
def test_a_plain_value_arrives_as_it_was(value):
    arrived = from_plain(json.loads(json.dumps(to_plain(value))))
    assert arrived == value and shape_of(arrived) == shape_of(value)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 4), np.int8),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.array(3j),
        np.arange(9).reshape(3, 3).T,
    ],
)
def test_an_array_arrives_as_it_was_and_can_be_written_to(value):
    arrived = from_plain(to_plain(value))
    assert (arrived.dtype, arrived.shape, arrived.flags.writeable) == (value.dtype, value.shape, True)
    assert np.array_equal(arrived, value)


class Number(float):
    """What looks like a number and has code of its own."""


@pytest.mark.parametrize(
    "value",
    [
        Number(1.0),
        object(),
        len,
        lambda: 1,
        [Number(1.0)],
        {1: {2: Number(1.0)}},
        np.array([object()]),
        np.ma.masked_array([1.0]),
        iter([1]),
        Exception(),
    ],
)
def test_anything_else_is_refused(value):
    with pytest.raises(NotPlain, match="a value of type"):
        to_plain(value)


def test_what_is_nested_too_deep_or_contains_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(NotPlain, match="nested deeper"):
        to_plain(value)


@given(JSON)
def test_what_a_hostile_process_sends_is_a_plain_value_or_refused(data):
    try:
        value = from_plain(data)
    except NotPlain:
        return
    to_plain(value)


@pytest.mark.parametrize(
    "data",
    [
        ["array", "<f8", [1 << 40], ""],
        ["array", "<f8", [-1, -1], "AAAAAAAAAAA="],
        ["array", "|O8", [1], "AAAAAAAAAAA="],
        ["scalar", "<f8", ""],
        ["array", "<f8", [0, 10**30], ""],
        ["set", ["list"]],
        ["dict", [["list"], 1]],
        {"list": 1},
        ["nothing"],
        [],
        [["list"]],
        ["bytes", "?"],
    ],
)
def test_a_malformed_value_is_refused(data):
    with pytest.raises(NotPlain):
        from_plain(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 3,
        (1 << 60).to_bytes(HEAD, "big"),
        (4).to_bytes(HEAD, "big") + b"[1]",
        (2).to_bytes(HEAD, "big") + b"{x",
    ],
)
def test_a_malformed_message_is_none(data):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    assert receive(reader) is None
    os.close(reader)


def test_a_number_with_thousands_of_digits_does_not_cross():
    with pytest.raises(NotPlain, match="cannot be written"):
        send(1, {"value": 10**5000})


def test_how_many_digits_a_constant_has_is_a_parameter_of_its_rule():
    source = "TARGET = 31.41\nSIZE = 12345\nLARGE = 1234567\nSTEP = 0.125\n"
    text = "return 31.41 if n < 12345 else 1234567 * 0.125"
    _, held = new_in({"p.py": text}, {"p.py": "return 0"}, "evaluate.py", source)
    assert held == [("0.125", 3, False), ("12345", 5, True), ("1234567", 7, True), ("31.41", 4, False)]
    assert new_in({"p.py": text}, {"p.py": "return 31.41"}, "evaluate.py", source)[1] == held[:-1]

    def found(*held: object, **digits: int) -> str:
        finding = CHECKERS["programs.no_constants"]({"constants": list(held)}, **digits)
        return finding.reason if finding else ""

    assert (
        found(*held) == "it holds the evaluator's constant 1234567"
        and found(*held[:2]) == ""
        and found(held[3]) != ""
    )
    assert (
        found(held[0], fraction_digits=3) != ""
        and found(held[1], whole_digits=5) != ""
        and found(held[1], fraction_digits=3) == ""
    )
