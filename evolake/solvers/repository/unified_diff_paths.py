"""Which files of a variant an edit may touch: relative paths, globs, and text that comes back byte for
byte."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath


@functools.lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether `path` fits one of the globs; `*` stays within a folder, `**` does not."""
    return any(_glob(pattern).fullmatch(path) for pattern in patterns)


def path_problem(path: str, folder: Path, editable: Sequence[str]) -> str | None:
    """Return why a diff may not name `path`; None if it may. No link on the way is followed."""
    if (
        not path
        or path.startswith("/")
        or "\\" in path
        or "\0" in path
        or ".." in PurePosixPath(path).parts
        or str(PurePosixPath(path)) != path
    ):
        return f"{path!r} is no plain path below the variant's folder"
    if not matches(path, editable):
        return f"{path} may not be edited; only {', '.join(editable)} may"
    here = folder
    for part in PurePosixPath(path).parts:
        here = here / part
        if here.is_symlink():
            return f"{path} leads through a link"
    if here.exists() and not here.is_file():
        return f"{path} is no file"
    return None


def read_text(path: Path) -> tuple[str, str]:
    """Return a file's text and the encoding that gives its bytes back: UTF-8, or Latin-1 where it is not
    that."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"
