"""Whole numbers in texts from outside."""

from __future__ import annotations

DIGITS = 18
"""Digits that always fit into 64 bits."""


def whole_number(text: str, *, digits: int = DIGITS) -> int | None:
    """Return the number that `text` writes in at most `digits` ASCII digits, or None.

    `str.isdigit` is true for superscripts, which `int` refuses, and `int` refuses more than 4,300 digits.

    >>> whole_number("12"), whole_number("²"), whole_number("-1")
    (12, None, None)
    """
    return int(text) if 0 < len(text) <= digits and text.isascii() and text.isdecimal() else None
