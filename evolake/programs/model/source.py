"""A program's Python: parsed on the host (see `evolake.parsing.bounded`), and where its nodes stand."""

from __future__ import annotations

import ast

from evolake.parsing import Unreadable as Unreadable
from evolake.parsing import bounded

LONGEST = 200_000
"""Characters of a file."""


def parse(source: str) -> ast.Module:
    """The tree of a source. Raises Unreadable: too long, too deep, or not to be parsed."""
    return bounded(source, LONGEST)


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
