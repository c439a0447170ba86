"""One comparison of answers: laws, the spec's cases, and hostile texts of 200 kB."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.answers.matching import equivalent, matches
from evolake.answers.reading import extract_boxed

WORDS = st.text(alphabet=st.characters(codec="utf-8", categories=("L",)), min_size=1, max_size=8).filter(
    lambda text: text.casefold() != "n/a"
)
SCALARS = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=12,
)

EQUAL = [
    (3, 3.0),
    (3, "3"),
    (3, " 3 "),
    (3, "3.0"),
    (3, "+3"),
    ("1/2", 0.5),
    (0.5, r"\frac{1}{2}"),
    ("0.5", r"\boxed{\frac{1}{2}}"),
    (-0.5, r"-\frac{1}{2}"),
    (0.5, r"\dfrac12"),
    (1234, "1,234"),
    (1234567, r"$1{,}234{,}567$"),
    (1 / 3, "1/3"),
    ("1/3", "0.33333333333"),
    (1e-30, "1.0000000001e-30"),
    (-7, "−7"),
    ([1, 2], "[1,2]"),
    ([1, 2], (1, 2)),
    ("[1,2]", "[1, 2]"),
    ([1, 2], "(1, 2)"),
    ([1, 2], "1, 2"),
    ([[1, 2], [3]], "[1, 2], [3]"),
    ([1, 2], r"\{1, 2\}"),
    ([5], "[5]"),
    ([5], "(5,)"),
    (5, "(5)"),
    ([], "[]"),
    ([], "{}"),
    (["Ann", "Bob"], "['Ann', \"Bob\"]"),
    (["Ann", "Bob"], "[Ann, Bob]"),
    ([[1, 2], [3]], "[(1, 2), [3]]"),
    ({"a": 1, "b": [2]}, "{'b': [2.0], 'a': 1}"),
    ({"1": 2}, "{1: 2}"),
    (True, "true"),
    (True, "Yes"),
    (False, "否"),
    ("Yes", " Yes "),
    ("Yes", r"\text{Yes}"),
    ("007", "007"),
    ("12:30", "12:30"),
    ("f(x), g", "f(x), g"),
    ("Ann's", "Ann's"),
    (["don't", "x"], "[don't, x]"),
    ("答案", '"答案"'),
    ([True, 1], "[true, 1]"),
    (10**3000, str(10**3000)),
]
DIFFERENT = [
    (3, 4),
    (3, "three"),
    (True, 1),
    (False, 0),
    (True, "1"),
    (1, "true"),
    ("Yes", "yes"),
    ("007", 7),
    ("007", "7"),
    ("0110", "110"),
    (0, 1e-12),
    (10**18, 10**18 + 1),
    (10**18, f"{10**18 + 1}.0"),
    (1.0, 1.00000001),
    ([1, 2], [2, 1]),
    ([1, 2], [1, 2, 3]),
    ([[1, 2], [3]], "[[1, 2], 3]"),
    ([1, 2], "12"),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, "{a: 1, a: 1}"),
    ("N/A", "N/A"),
    (None, None),
    (None, "None"),
    ("n/a", "N/A"),
    (math.nan, math.nan),
    (math.inf, math.inf),
    ([math.nan], [math.nan]),
    ([None], [None]),
    (["N/A"], ["N/A"]),
    ("", 0),
    ([], 0),
    ([1], "[[1]"),
    (5, "[5]"),
    ([[5]], "[5]"),
    ([[]], "[]"),
    (2, "1+1"),
    (4, "2**2"),
    (0, "__import__('os')"),
    ("a", "b"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal(left, right):
    assert equivalent(left, right)
    assert equivalent(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different(left, right):
    assert not equivalent(left, right)
    assert not equivalent(right, left)


def test_case_counts_unless_the_family_says_otherwise():
    assert equivalent("Ann", "ANN", case_sensitive=False)
    assert equivalent(["Ann"], "[ANN]", case_sensitive=False)
    assert equivalent({"Ann": 1}, {"ANN": 1}, case_sensitive=False)
    assert not equivalent({"Ann": 1}, {"ANN": 1})


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"so \boxed{42}.", "42"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{1} then \boxed{2}", "2"),
        (r"\boxed{1} then \boxed{2", "1"),
        (r"\boxed {[1, 2]}", "[1, 2]"),
        (r"\boxed{\{1\}}", r"\{1\}"),
        (r"\boxed{a \boxed{b} c}", r"a \boxed{b} c"),
        ("42", None),
        (r"\boxed{", None),
        (r"{\boxed{7}}", "7"),
        (r"\boxed{}", ""),
    ],
)
def test_the_last_complete_box_counts(text, content):
    assert extract_boxed(text) == content


def test_a_reply_without_a_box_is_wrong():
    assert matches(r"I think \boxed{[1, 2]}", [1, 2])
    assert not matches("[1, 2]", [1, 2])
    assert not matches(r"\boxed{N/A}", "N/A")


@given(VALUES)
def test_every_value_equals_itself_and_its_own_text(value):
    assert equivalent(value, value)
    assert equivalent(value, json.loads(json.dumps(value)))
    assert equivalent(json.dumps(value, ensure_ascii=False), value)
    assert matches("so \\boxed{" + json.dumps(value, ensure_ascii=False) + "}", value)


@given(VALUES, VALUES)
def test_equivalence_is_symmetric(left, right):
    assert equivalent(left, right) == equivalent(right, left)


@given(st.integers(), st.integers())
def test_two_integers_are_equal_only_if_they_are(left, right):
    assert equivalent(left, right) == (left == right) == equivalent(str(left), right)


@given(st.text(max_size=60), VALUES)
def test_no_text_is_too_strange(text, value):
    assert equivalent(text, value) in (True, False)
    assert extract_boxed(text) is None or "\\boxed" in text


HOSTILE = [
    "[" * 200_000,
    "[1," * 60_000,
    "(" * 100_000 + ")" * 100_000,
    "\\boxed{" * 30_000,
    "\\boxed{1}" * 20_000,
    "\\boxed{" * 14_000 + "}" * 14_000,
    "9" * 200_000,
    "1," * 100_000,
    "0." + "1" * 200_000,
    "1e" + "9" * 200_000,
    "\\frac{" * 30_000,
    "\\frac{1" + "1" * 200_000,
    "\\text{" * 33_000,
    "['" * 100_000,
    '["a\\' + '\\"' * 100_000,
    "['a," * 50_000,
    "{a:" * 60_000,
    "{" + "a:1," * 50_000,
    " " * 200_000,
    "-" * 200_000,
    "\\" * 200_000,
    "$" * 200_000,
    "1,234" + ",234" * 50_000,
    "1/" + " " * 200_000,
    '"' * 200_001,
    "[" + "1, " * 66_000 + "1]",
    "\\left" * 40_000,
    "[" + "' ,\" ," * 40_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_long_hostile_answer_is_judged_and_wrong(number):
    text = HOSTILE[number]
    for label in (7, [7], {"a": 7}, "seven", True, 0.5):
        assert not equivalent(text, label)
        assert not matches(text, label)
    assert not equivalent(text, text[::-1] + "x")
