"""What a coder sees of a variant's sources: an outline, the regions it asks for, and never a document that holds results.

Only files under the adapter's editable globs are shown: RESULTS.md, which the pipeline writes after evaluation, is not one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.solvers.roles.models import Excerpt, Region, SourceFile

MAX_REGIONS = 8
MAX_LINES = 250
MAX_FILES = 120
MAX_FUNCTIONS = 80
LARGE = 80
HIDDEN = ("RESULTS.md", "HYPOTHESIS.md", "CHANGELOG.md")
_FUNCTION = re.compile(r"^[A-Za-z_][\w:<>,&*~ \t]*?\b([A-Za-z_]\w*(?:::~?\w+)?)\s*\([^;]*$")
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "else", "do"}


def visible_files(folder: Path, adapter: Any) -> dict[str, str]:
    """Text of the files that may be edited, by path relative to the variant; those that are not UTF-8 are read as Latin-1."""
    found = {}
    for pattern in adapter.editable:
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink() and path.name not in HIDDEN:
                found[path.relative_to(folder).as_posix()] = _text(path.read_bytes())
    return dict(sorted(found.items()))


def outline(files: Mapping[str, str]) -> list[SourceFile]:
    """One line per file; for the larger ones also where functions begin. The longest files are kept where there are too many."""
    items = []
    for path, text in files.items():
        lines = text.splitlines()
        items.append(SourceFile(path=path, lines=len(lines), functions=_functions(lines) if len(lines) >= LARGE else []))
    longest = sorted(items, key=lambda item: (-item.lines, item.path))[:MAX_FILES]
    return sorted(longest, key=lambda item: item.path)


def excerpts(files: Mapping[str, str], regions: Sequence[Region]) -> list[Excerpt]:
    """The regions as they stand, each cut to `MAX_LINES` lines, `MAX_REGIONS` at most; unknown files and empty ranges are left out."""
    found = []
    for region in regions[:MAX_REGIONS]:
        lines = files.get(region.path, "").splitlines()
        last = min(region.last_line, region.first_line + MAX_LINES - 1, len(lines))
        if region.first_line <= last:
            found.append(Excerpt(path=region.path, first_line=region.first_line, text="\n".join(lines[region.first_line - 1 : last])))
    return found


def _functions(lines: Sequence[str]) -> list[str]:
    found = []
    for number, line in enumerate(lines, start=1):
        match = _FUNCTION.match(line)
        if match and match.group(1) not in _NOT_FUNCTIONS:
            found.append(f"{match.group(1)}:{number}")
    return found[:MAX_FUNCTIONS]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
