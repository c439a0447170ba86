"""Limits, names and one-line reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.jail.protocol import Limits, one_line, plain_name


@pytest.mark.parametrize(
    "wrong",
    [{"cpu_s": 0}, {"wall_s": float("inf")}, {"wall_s": float("nan")}, {"memory_mb": -1}, {"processes": -1}],
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Limits(**wrong)


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a/../../b", "a//b", "./a", ".", "a/", "a\0b"])
def test_names_that_could_lead_elsewhere_are_refused(name):
    with pytest.raises(InputError):
        plain_name(name)


@pytest.mark.parametrize("name", ["a", "a/b", ".hidden", "a b", "..."])
def test_plain_names_pass(name):
    assert plain_name(name) == name


@given(st.text())
def test_a_reason_is_one_printable_line_of_bounded_length(text):
    line = one_line(text)
    assert len(line) <= 500
    assert line.isprintable()
