"""The comments of a program as Python sees them. Lines and line ends are in `evolake.text_edits`.

Python ends a line at LF, CRLF or a lone CR and nowhere else (`str.splitlines` also at form feeds and other
characters), and a byte order mark at the start is no part of the text. Texts keep both as they are in their
files.
"""

from __future__ import annotations

import io
import tokenize
from functools import lru_cache

from evolake.text_edits import BOM, with_ends


@lru_cache(maxsize=64)
def python_comments(text: str) -> dict[int, str]:
    """Return line (from 1) -> comment, of the comments that Python sees: a `#` in a string or docstring
    begins none.

    Of a text that has no tokens (a string without its end), the lines that begin with `#`: such a program
    cannot run, and other gates block it.
    """
    plain = with_ends(text.removeprefix(BOM))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(plain).readline))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {
            number: line.strip()
            for number, line in enumerate(plain.split("\n"), 1)
            if line.strip().startswith("#")
        }
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
