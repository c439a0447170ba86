"""The lines of a program as Python counts them, its line ends, and its comments.

Python ends a line at LF, CRLF or a lone CR and nowhere else (`str.splitlines` also at form feeds and other characters), and a byte order mark at the
start is no part of the text. Texts keep both as they are in their files; what needs positions in them asks here.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from functools import lru_cache

BOM = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_END = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """Return the lines with their ends, which make up the text."""
    return _LINE.findall(text)


def end_of(line: str) -> str:
    """Return the end of a line; "" for the last one if it has none."""
    return "\r\n" if line.endswith("\r\n") else line[-1:] if line.endswith(("\r", "\n")) else ""


def usual_end(text: str) -> str:
    """Return the line end that a text uses most often; LF if it has no line end."""
    counts = Counter(_END.findall(text))
    return max(("\n", "\r\n", "\r"), key=lambda end: counts[end])


def with_ends(text: str, end: str = "\n") -> str:
    """Return the text with this end at every line."""
    return _END.sub(end, text)


def has_only_lf(text: str) -> bool:
    """Whether a text has no other line end than LF, and no byte order mark."""
    return "\r" not in text and not text.startswith(BOM)


@lru_cache(maxsize=64)
def python_comments(text: str) -> dict[int, str]:
    """Return line (from 1) -> comment, of the comments that Python sees: a `#` in a string or docstring begins none.

    Of a text that has no tokens (a string without its end), the lines that begin with `#`: such a program cannot run, and other gates block it.
    """
    plain = with_ends(text.removeprefix(BOM))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(plain).readline))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {number: line.strip() for number, line in enumerate(plain.split("\n"), 1) if line.strip().startswith("#")}
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
