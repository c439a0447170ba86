"""A program's Python: parsed on the host (see `evolake.parsing.bounded`), and where its nodes are."""

from __future__ import annotations

import ast
import io
import tokenize

from evolake.parsing import Unreadable as Unreadable
from evolake.parsing import bounded
from evolake.text_edits import BOM, lines_of, with_ends

LONGEST = 200_000
"""Characters of a file."""
HEAD = 4000
"""Characters in which a declaration of an encoding is looked for."""


def parse(source: str) -> ast.Module:
    """Return the tree of a source.

    Raises Unreadable: too long, too deep, not to be parsed, or declared to be in another encoding than UTF-8,
    by which Python would read its file as another text.
    """
    if (encoding := declared_encoding(source)) != "utf-8":
        raise Unreadable(f"declares the encoding {encoding}: only UTF-8 is read")
    return bounded(source.removeprefix(BOM), LONGEST)


def declared_encoding(source: str) -> str:
    """Return the encoding that the first two lines of a Python file declare, in the spelling of `tokenize`;
    utf-8 if they declare none."""
    head = "".join(lines_of(source.removeprefix(BOM)[:HEAD])[:2])
    if "coding" not in head:
        return "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(with_ends(head).encode("utf-8", "replace")).readline)[0]
    except SyntaxError as error:
        return str(error)


class Places:
    """Where nodes of a tree are in the text that it was parsed from. Python counts columns in bytes of UTF-8,
    and none for a byte order mark; texts are cut by characters."""

    def __init__(self, text: str):
        self.text = text
        self._shift = len(BOM) if text.startswith(BOM) else 0
        self._lines = [*lines_of(text[self._shift :]), ""]
        self._starts = [self._shift]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """Return the place in the text of a line (from 1) and a column (in bytes)."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + (
            column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        )

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the text lines reach, with their ends; from 1, the last one included."""
        return self._starts[first - 1], self._starts[last]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """From where to where a node reaches."""
        return self.at(node.lineno, node.col_offset), self.at(
            node.end_lineno or node.lineno, node.end_col_offset or 0
        )
