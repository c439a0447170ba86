"""What a checker may not use, and what a reply says as a value that a checker is given."""

import pytest

from evolake.answers.values import LONGEST_CHECKED, answer_value
from evolake.families.model.source_code import impurity


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os", "line 1: import os"),
        ("import re\nre.enum.sys", "line 2: .sys"),
        ("().__class__", "line 1: .__class__"),
        ("'{0}'.format(1)", "line 1: .format"),
        ("from re import enum", "line 1: import of enum"),
        ("from . import math", "line 1: import of None"),
        ("from math import *", "line 1: import of *"),
        ("x = 1\nopen('x')", "line 2: open"),
        ("getattr(1, 'real')", "line 1: getattr"),
        ("(1 for _ in ()).gi_frame", "line 1: .gi_frame"),
        ("__builtins__", "line 1: __builtins__"),
    ],
)
def test_what_reaches_beyond_computing_is_named_with_its_line(source, found):
    assert impurity(source) == found


def test_what_cannot_be_parsed_is_impure():
    assert "cannot be parsed" in impurity("def (:")


@pytest.mark.parametrize(
    "source",
    ["import math as m", "from collections import Counter", "x = [1].copy()", "'abc'.replace('a', 'b')"],
)
def test_computing_is_allowed(source):
    assert impurity(source) == ""


@pytest.mark.parametrize(
    ("content", "label", "value"),
    [
        ("[1, 2]", [3], [1, 2]),
        ("1, 2", [3], [1, 2]),
        ("(1, 2)", [3], [1, 2]),
        ("[[1, 2], [3, 4]]", [[0]], [[1, 2], [3, 4]]),
        ("[]", [1], []),
        ("[a, 2]", ["x"], ["a", "2"]),
        ('["a", "b"]', ["x"], ["a", "b"]),
        ("[1.5, 2]", [0.5], [1.5, 2.0]),
        ("[yes, False]", [True], [True, False]),
        ("{a: 1, b: 2}", {"x": 3}, {"a": 1, "b": 2}),
        ("17", 3, 17),
        ("seventeen", 3, "seventeen"),
        ("nothing", [1], ["nothing"]),
        (r"(3 + 4) \times 5", "x", "(3 + 4) * 5"),
        (r"6 \div 2", "x", "6 / 2"),
        (r"\text{()[]}", "x", "()[]"),
        ("{1: 2}", [1], None),
        ("x = 3, y = -2", {"x": 0, "y": 0}, {"x": 3, "y": -2}),
        ("x = 3, y = -2", [0, 0], [3, -2]),
        ("a: 1, b: 2", {"a": 0, "b": 0}, {"a": 1, "b": 2}),
        ("1, 2 and 3", [0, 0, 0], [1, 2, 3]),
        ("n = 17.", 3, 17),
        ("**17**", 3, 17),
        ("17 minutes", 3, 17),
        ("17 hours", 3, "17 hours"),
        ("１７", 3, 17),
        ("17/10,000", 0.5, 0.0017),
        (r"\sqrt{2}", 0.5, 2**0.5),
        ("`(1 + 2)`", "x", "(1 + 2)"),
        ("z", "x=5", "z"),
        ("7", "x=5", "x=7"),
        ("x = 7", "x=5", "x=7"),
        ("9 pm", "14:05", "21:00"),
        ("6 March 2024", "2024-03-05", "2024-03-06"),
        ("(D) seven", "E", "D"),
        ("No, it does not", True, False),
        ("1" * (LONGEST_CHECKED + 1), "x", None),
    ],
)
def test_a_reply_is_read_as_a_value_of_the_labels_kind(content, label, value):
    result = answer_value(content, label, ["minutes"])
    assert (result, type(result)) == (value, type(value))
