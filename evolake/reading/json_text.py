"""Parse JSON, and whole numbers, from outside: bounded in length, depth, values and digits before anything is
built of it.

The standard parser recurses once per bracket and refuses numbers of more than 4,300 digits with an error that
says nothing of the text. A few megabytes can be five million empty objects, which take a hundred times that
as Python values. So the text is counted first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from evolake.reading.files import Unparsable

MAX_DEPTH = 100
MAX_DIGITS = 300
"""Digits of one number: a float takes at most 309 before its point, and an integer beyond that cannot become
one."""
MAX_VALUES = 5_000_000
MAX_CHARACTERS = 64 << 20
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_MARKS = ",:[{"
_BRACKET = re.compile(r"[\[\]{}]")


def parse_json(
    text: str | bytes,
    *,
    name: str,
    characters: int = MAX_CHARACTERS,
    depth: int = MAX_DEPTH,
    values: int = MAX_VALUES,
    digits: int = MAX_DIGITS,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return the value of a JSON text in UTF-8; a byte order mark at its start is left out.

    Args:
        name: what an error calls the text, such as the user's file. characters, depth, values, digits: its
            limits.
        pairs: makes the objects.

    Raises:
        Unparsable: it is no JSON, or beyond a limit. What `pairs` raises.
    """
    if why := beyond_json(text, characters=characters, depth=depth, values=values, digits=digits):
        raise Unparsable(
            f"{name} cannot be read as JSON", wanted="JSON within the limits", got=why, do="shorten it"
        )
    try:
        return json.loads(_decoded(text), object_pairs_hook=pairs)
    except RecursionError:
        raise Unparsable(
            f"{name} cannot be read as JSON", got="it is nested too deep", do="flatten it"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Unparsable(
            f"{name} is no JSON", wanted="one JSON value in UTF-8", got=str(error), do="fix or replace it"
        ) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are all different, for `pairs`: of two, readers could take either.

    Raises:
        ValueError: one is there twice.
    """
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"an object has the key {name[:100]!r} twice")
        values[name] = value
    return values


def beyond_json(
    text: str | bytes,
    *,
    characters: int = MAX_CHARACTERS,
    depth: int = MAX_DEPTH,
    values: int = MAX_VALUES,
    digits: int = MAX_DIGITS,
) -> str:
    """Return why the text is beyond the limits of JSON, "" if it is within them; in time proportional to its
    length."""
    if len(text) > characters:
        return f"{len(text):,} characters; at most {characters:,} are read"
    try:
        text = _decoded(text)
    except UnicodeDecodeError:
        return ""  # its parser says where
    bare = text if _is_small(text, depth, values, digits) else _STRING.sub('""', text)
    if _deeper(bare, depth):
        return f"it is nested deeper than {depth}"
    if (count := values_of(bare)) > values:
        return f"it holds {count} values; at most {values} are read"
    if _long_number(bare, digits):
        return f"a number of more than {digits} digits"
    return ""


def values_of(bare: str) -> int:
    """Return how many values a JSON text holds, from above; keys of objects are counted as well."""
    return sum(map(bare.count, _MARKS)) + 1


def _is_small(text: str, depth: int, values: int, digits: int) -> bool:
    """Return whether nothing in the text, strings included, can be beyond a limit: most texts need no second
    look."""
    opened = text.count("[") + text.count("{")
    return opened <= depth and values_of(text) <= values and _long_number(text, digits) is None


def _long_number(text: str, digits: int) -> re.Match[str] | None:
    return re.search(rf"[0-9]{{{digits + 1}}}", text) if len(text) > digits else None


def _deeper(bare: str, depth: int) -> bool:
    if bare.count("[") + bare.count("{") <= depth:
        return False
    at = 0
    for bracket in _BRACKET.finditer(bare):
        at += 1 if bracket[0] in "[{" else -1
        if at > depth:
            return True
    return False


def _decoded(text: str | bytes) -> str:
    return (text.decode("utf-8") if isinstance(text, bytes | bytearray) else text).removeprefix("\ufeff")


DIGITS = 18
"""Digits that always fit into 64 bits."""


def whole_number(text: str, *, digits: int = DIGITS) -> int | None:
    """Return the number that `text` writes in at most `digits` ASCII digits, or None.

    `str.isdigit` is true for superscripts, which `int` refuses, and `int` refuses more than 4,300 digits.

    >>> whole_number("12"), whole_number("²"), whole_number("-1")
    (12, None, None)
    """
    return int(text) if 0 < len(text) <= digits and text.isascii() and text.isdecimal() else None
