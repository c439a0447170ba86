"""Parsing a candidate's source on the host: bounded in length and depth first, so that whatever walks the tree afterwards may recurse.

Python's parser, `ast.unparse` and the libraries that measure programs recurse without a bound of their own: `1 + 1 + ...` of 900 terms parses and can
then be neither written nor visited. The parser also raises MemoryError for what it cannot hold on its stack.
"""

from __future__ import annotations

import ast
from typing import Literal

from evolake.families.model.contract import MAX_SOURCE_BYTES
from evolake.parsing import parse_python

MAX_NESTING = 120
"""Depth of a tree. Seeds are at most 16 deep and a child adds two; `ast.unparse` fails from about 400 on, less where the stack is in use."""


MAX_BITS = 14_000
"""Of an integer, which hexadecimal digits may make as long as they like: Python refuses to write more than 4,300 decimal digits."""


KEPT = 512
_sound: set[tuple[str, str]] = set()
"""Sources whose trees were walked and found bounded: gates parse one many times, to change another place of it each time."""


class Unreadable(ValueError):
    """A source that is no Python, or none that is taken apart here. A fact about the candidate."""


def parse(source: str, longest: int = MAX_SOURCE_BYTES) -> ast.Module:
    """The tree of a source of at most `longest` characters. Raises Unreadable: too long, too deep, or not to be parsed."""
    tree = _parsed(source, "exec", longest)
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises Unreadable as `parse` does."""
    tree = _parsed(text, "eval", MAX_SOURCE_BYTES)
    assert isinstance(tree, ast.Expression)
    return tree.body


def unparsed(text: str) -> str:
    """An expression in Python's own spelling; the text itself where it cannot be parsed."""
    try:
        return ast.unparse(parse_expression(text))
    except Unreadable:
        return text


def nesting(tree: ast.AST) -> int:
    """The depth of a tree, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


def _parsed(source: str, mode: Literal["exec", "eval"], longest: int) -> ast.AST:
    if len(source) > longest:
        raise Unreadable(f"longer than {longest} characters")
    try:
        tree = parse_python(source, mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"cannot be parsed: {str(error) or type(error).__name__}") from None
    if (source, mode) in _sound:
        return tree
    if nesting(tree) > MAX_NESTING:
        raise Unreadable(f"nested deeper than {MAX_NESTING}")
    if any(isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MAX_BITS for node in ast.walk(tree)):
        raise Unreadable(f"an integer of more than {MAX_BITS} bits")
    if len(_sound) >= KEPT:
        _sound.clear()
    _sound.add((source, mode))
    return tree
