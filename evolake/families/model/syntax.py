"""Parsing a candidate's source on the host (see `evolake.parsing.bounded`)."""

from __future__ import annotations

import ast

from evolake.families.model.contract import MAX_SOURCE_BYTES
from evolake.parsing import Unreadable as Unreadable
from evolake.parsing import bounded


def parse(source: str, longest: int = MAX_SOURCE_BYTES) -> ast.Module:
    """Return the tree of a source of at most `longest` characters. Raises Unreadable: too long, too deep, or
    not to be parsed."""
    return bounded(source, longest)


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one expression. Raises Unreadable as `parse` does."""
    return bounded(text, MAX_SOURCE_BYTES, "eval").body


def unparsed(text: str) -> str:
    """Return an expression in Python's own spelling; the text itself where it cannot be parsed."""
    try:
        return ast.unparse(parse_expression(text))
    except Unreadable:
        return text
