"""Finding an anchor: a piece of code that must be in a file exactly once, whatever the white space around its
tokens.

Solvers of one descent share whole functions but not their formatting, and a seed may carry small patches of
ours. Matching tokens instead of text lets one anchor serve several bases; asking for exactly one match keeps
an edit from landing in an unintended place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[0-9][\w.]*|\s+|.', re.DOTALL)
SOURCES = ("src",)


@dataclass(frozen=True)
class Span:
    """Half-open range of characters in a file."""

    path: str
    start: int
    end: int


@cache
def pattern(anchor: str) -> re.Pattern[str]:
    """Return the expression that finds the tokens of `anchor` with any white space between them."""
    parts = []
    for token in _TOKEN.findall(anchor.strip()):
        if token.isspace():
            continue
        word = re.escape(token)
        parts.append(rf"\b{word}\b" if re.fullmatch(r"\w+", token) else word)
    return re.compile(r"\s*".join(parts))


def source_files(folder: Path) -> dict[str, str]:
    """Return text of every C++ source of a variant by its path relative to `folder`. A file that is not UTF-8
    is read as Latin-1, byte for byte."""
    root = next((folder / name for name in SOURCES if (folder / name).is_dir()), folder)
    result = {}
    for path in sorted(root.rglob("*")):
        if (
            path.suffix in (".cc", ".cpp", ".c", ".h", ".hpp", ".hh")
            and path.is_file()
            and not path.is_symlink()
        ):
            result[path.relative_to(folder).as_posix()] = path.read_bytes().decode("latin-1")
    return result


def file_named(files: Mapping[str, str], ending: str) -> str | None:
    """Return the one path that is `ending` or ends with `/ending`; None if there is none, or several."""
    hits = [path for path in files if path == ending or path.endswith(f"/{ending}")]
    return hits[0] if len(hits) == 1 else None


def find(files: Mapping[str, str], ending: str, anchor: str) -> Span | str:
    """Return where the anchor is, or `anchor-missing: ...` / `anchor-ambiguous: ...`."""
    path = file_named(files, ending)
    if path is None:
        return f"anchor-missing: no single file {ending}"
    hits = list(pattern(anchor).finditer(files[path]))
    if not hits:
        return f"anchor-missing: {ending} has no {_short(anchor)}"
    if len(hits) > 1:
        return f"anchor-ambiguous: {ending} has {len(hits)} times {_short(anchor)}"
    return Span(path, hits[0].start(), hits[0].end())


def _short(anchor: str) -> str:
    text = " ".join(anchor.split())
    return text if len(text) <= 80 else f"{text[:77]}..."
