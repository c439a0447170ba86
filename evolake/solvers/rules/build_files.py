"""Checkers of build files that a variant may change: what may be in them, and what their build did next to
that of the base.

The text is a lint that names the cause early; what decides is what the kernel reported of the build: which
programs ran, and with which flags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.gates import Finding, checker

BUILD_FILES, DECLARED = "build_files", "declared_level"
LEVEL = re.compile(r"-O[0-3s]?")
FREE = re.compile(r"-W[a-z0-9=+-]*|-I\S*|-std=\S+|-g[0-3]?|-M[A-Z]*|-o|-c|-pipe|-quiet")
"""Words of a compiler's command line that change nothing that is measured: warnings, where headers of the
tree are, names of files."""
_DECLARATION = re.compile(r"^Build flags: (-O[0-3s])\s*$", re.MULTILINE)
LONGEST_NOTE = 1 << 16


def declared_level(changelog: Path) -> str:
    """Return the optimisation level that a variant says it is built with, by a line like `Build flags: -O2`
    of CHANGELOG.md; "" without one."""
    if changelog.is_symlink() or not changelog.is_file():
        return ""
    result = _DECLARATION.findall(changelog.read_bytes()[:LONGEST_NOTE].decode("utf-8", "replace"))
    return result[-1] if result else ""


@checker("solvers.build_files")
def build_files(evidence: Mapping[str, Any], *, lines: Sequence[str]) -> Finding | None:
    """Where a variant may change build files, no line that it adds to them matches one of the regular
    expressions `lines`; the cause is named."""
    opened = set(evidence.get(BUILD_FILES, ()))
    patterns = [re.compile(pattern) for pattern in lines]
    for row in (row for row in evidence["source"]["lines"] if row["file"] in opened):
        if result := next((match for pattern in patterns if (match := pattern.search(row["text"]))), None):
            return Finding(
                f"a build does more than compile sources: {result[0].strip()!r} added in "
                f"{row['file']}:{row['line']}"
            )
    return None


def build_differs(ours: Sequence[str], theirs: Sequence[str], declared: str) -> str:
    """Return what a build with changed build files did that the build of its base did not; "" for nothing
    that counts.

    Args:
        ours, theirs: command lines of compilers without names of files, and paths of programs that ran, as
            `BuildResult` has them.
        declared: the optimisation level that the variant says it is built with.
    """
    known: dict[tuple[str, ...], set[str]] = {}
    for line in theirs:
        rest, level = _reduced(line)
        known.setdefault(rest, set()).add(level)
    for line in ours:
        rest, level = _reduced(line)
        if rest not in known:
            return f"its build is not that of its base: it runs {line[:200]!r}"
        if level not in known[rest] | ({declared} if declared else set()):
            was = " or ".join(sorted(known[rest])) or "none"
            return (
                f"it is compiled with {level or 'no -O'} where its base is with {was}, which would be "
                "measured as a better or worse search; a variant that means it says so by a line `Build "
                f"flags: {level or '-O0'}` of CHANGELOG.md"
            )
    return ""


def _reduced(line: str) -> tuple[tuple[str, ...], str]:
    """Return a command line without what is free, and its optimisation level; the last one counts."""
    name, *words = line.split()
    levels = [word for word in words if LEVEL.fullmatch(word)]
    rest = sorted({word for word in words if not FREE.fullmatch(word) and not LEVEL.fullmatch(word)})
    return (name, *rest), levels[-1] if levels else ""
