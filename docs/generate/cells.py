"""Markdown that is written by code: a table whose cells cannot break out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; None is an empty cell."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell(value) for value in line) + " |" for line in lines) + "\n"


def cell(value: object) -> str:
    """Return a value on one line, with nothing in it that ends a cell."""
    return "" if value is None else " ".join(str(value).split()).replace("|", "\\|")


def code(value: object) -> str:
    """Return a value as code; "" for the empty text."""
    return f"`{value}`" if str(value) else ""
