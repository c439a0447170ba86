"""JSON, TOML and numbers from outside are parsed within bounds: an error names the text, and comes at
once."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.reading import Unparsable, parse_json, parse_toml, whole_number
from evolake.reading.json_text import MAX_DEPTH, MAX_DIGITS

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
@settings(deadline=None)
def test_json_within_the_bounds_is_read_as_the_standard_parser_reads_it(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_json(text, name="it") == value


@pytest.mark.parametrize(
    "text, why",
    [
        ("[" * 1_000_000, "nested deeper"),
        ('{"a":' * 1_000_000, "nested deeper"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested deeper"),
        ("9" * (MAX_DIGITS + 1), "digits"),
        ("-" + "9" * 10_000, "digits"),
        ("[0." + "9" * 10_000 + "]", "digits"),
        ("[" + "{}," * 3000 + "{}]", "values"),
        ('"' + "x" * 100_001 + '"', "characters"),
        ("{", "Expecting"),
        ("", "Expecting"),
        ("[1] 2", "Extra data"),
        (b"\xff", "codec"),
        ("\u00b2", "Expecting"),
        ('"\\', "Unterminated"),
    ],
)
def test_json_that_is_broken_or_beyond_a_bound_is_an_error_that_names_it(text, why):
    characters = 100_000 if "x" * 9 in str(text[:20]) else 10_000_000
    with pytest.raises(Unparsable, match="reply.json") as raised:
        parse_json(text, name="reply.json", values=2000, characters=characters)
    assert why in str(raised.value)
    assert isinstance(raised.value, InputError) and isinstance(raised.value, ValueError)


def test_brackets_digits_and_commas_inside_strings_do_not_count():
    value = ["[" * 500 + "," * 5000 + "9" * 500, '"' + "{" * 500]
    assert parse_json(json.dumps(value), name="it", values=100) == value
    assert parse_json(b"\xef\xbb\xbf[1]", name="it") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\n[b.c]\nd = [1, {e = 'f'}]\n",
        'x = """a [[[ \\""" ]] b"""\ny = \'\'\'{{"\'\'\'\n',
        "# [[[[\na = '#'\nb = 1979-05-27T07:32:00.999Z\n",
        '"a.b".c = 1.5e3\r\n',
        "a = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, "
        "9.5, 0.5, 1.5, 2.5]",
        "[[a]]\n[[a]]\n" * 60,
        'a = "' + "." * 500 + '"',
    ],
)
def test_toml_within_the_bounds_is_read_as_the_standard_parser_reads_it(text):
    assert parse_toml(text, name="it") == tomllib.loads(text)
    assert parse_toml(b"\xef\xbb\xbf" + text.encode(), name="it") == tomllib.loads(text)


@pytest.mark.parametrize(
    "text, why",
    [
        ("a = " + "[" * 100_000, "nested deeper"),
        ("a = " + "{b = " * 1000, "nested deeper"),
        (".".join(["a"] * 50_000) + " = 1", "parts"),
        ("[" + ".".join(['"a"'] * 50_000) + "]", "parts"),
        ("a = " + "9" * 10_000, "number"),
        ("a = 0x" + "f" * 10_000, "number"),
        ("a . " * 50_000 + "a = 1", "parts"),
        ("a" * 1_000_000 + " = 1", "number or name"),
        ("a = \u00b2", "Invalid value"),
        ("a", "Expected"),
        (b"a = '\xff'", "codec"),
        ("a = 1\na = 2", "Cannot overwrite"),
        ("#" * 5_000_000, "characters"),
        ('"' * 100_000, ""),
        ("'''" + '"' * 100_000, ""),
        ("a = 99999-99-99", ""),
    ],
)
def test_toml_that_is_broken_or_beyond_a_bound_is_an_error_that_names_it(text, why):
    with pytest.raises(Unparsable, match=r"p\.toml") as raised:
        parse_toml(text, name="p.toml")
    assert why in str(raised.value)


@given(st.text())
@settings(deadline=None)
def test_any_text_is_a_value_or_an_input_error(text):
    for parse in (parse_json, parse_toml):
        try:
            parse(text, name="it")
        except Unparsable as error:
            assert "it " in str(error)


@pytest.mark.parametrize(
    "text, number",
    [
        ("0", 0),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 10_000, None),
        ("\u00b2", None),
        ("\u0661", None),
        ("", None),
        ("-1", None),
        (" 1", None),
        ("1_0", None),
        ("x", None),
    ],
)
def test_a_whole_number_is_ascii_digits_and_not_too_many(text, number):
    assert whole_number(text) == number
