"""Parsing a program's Python on the host: bounded in length and depth first, so that whatever walks the tree afterwards may recurse."""

from __future__ import annotations

import ast

from evolake.parsing import parse_python

LONGEST = 200_000
"""Characters of a file."""
MAX_NESTING = 120
MAX_BITS = 14_000
"""Of an integer: Python refuses to write more than 4,300 decimal digits."""


class Unreadable(ValueError):
    """A source that is no Python, or none that is taken apart here. A fact about the candidate."""


def parse(source: str) -> ast.Module:
    """The tree of a source. Raises Unreadable: too long, too deep, or not to be parsed."""
    if len(source) > LONGEST:
        raise Unreadable(f"longer than {LONGEST} characters")
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"cannot be parsed: {str(error) or type(error).__name__}") from None
    if nesting(tree) > MAX_NESTING:
        raise Unreadable(f"nested deeper than {MAX_NESTING}")
    if any(isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MAX_BITS for node in ast.walk(tree)):
        raise Unreadable(f"an integer of more than {MAX_BITS} bits")
    return tree


def nesting(tree: ast.AST) -> int:
    """The depth of a tree, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


class Places:
    """Where nodes of a tree stand in the text that it was parsed from. Python counts columns in bytes of UTF-8; texts are cut by characters."""

    def __init__(self, text: str):
        self.text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, line: int, column: int) -> int:
        """The place in the text of a line (from 1) and a column (in bytes)."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore")))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """From where to where a node reaches."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def line_of(self, place: int) -> int:
        """The line, from 1, of a place in the text."""
        return self.text.count("\n", 0, place) + 1
