"""Checkers of a variant's repository: layout, documents, files that may not change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from evolake.gates import Finding, checker

NAMED = 3


@checker("solvers.layout")
def layout(evidence: Mapping[str, Any]) -> Finding | None:
    """Check that the folder is laid out as a variant's repository."""
    problems = evidence["layout"]
    return Finding(f"layout: {_listed(problems)}") if problems else None


@checker("solvers.documents")
def documents(evidence: Mapping[str, Any], *, least: Mapping[str, int]) -> Finding | None:
    """Each document of `least` is there with at least so many characters, white space not counted."""
    for name, wanted in least.items():
        result = evidence["documents"].get(name)
        if result is None:
            return Finding(f"{name} is missing")
        if result < wanted:
            return Finding(f"{name} has {result} characters; at least {wanted} are wanted")
    return None


@checker("solvers.frozen_files")
def frozen_files(evidence: Mapping[str, Any], *, globs: Sequence[str]) -> Finding | None:
    """Files that match `globs` are those of the base, and nothing that is added is a binary or a link."""
    source = evidence["source"]
    if source["binary"]:
        return Finding(f"holds files that are no text: {_listed(source['binary'])}")
    changed = [path for path in source["others"] if any(fnmatch(path, pattern) for pattern in globs)]
    return Finding(f"changes files that are the pipeline's: {_listed(changed)}") if changed else None


@checker("solvers.only_sources")
def only_sources(
    evidence: Mapping[str, Any], *, names: str, lines: Sequence[str] = (), endings: Sequence[str] = ()
) -> Finding | None:
    """Check that what a variant changes are its sources in C and C++, and nothing else that a build reads.

    names: a regular expression of what a changed path may be as a whole: make and a shell read a name too.
    lines: regular expressions that no added line of a build file matches; they name the cause. endings: of
    files that no tree may add whatever they hold (objects, archives).
    """
    source = evidence["source"]
    touched = sorted({*source["changed"], *source["new"], *source["others"]})
    fits = re.compile(names)
    if odd := [path for path in touched if not fits.fullmatch(path)]:
        return Finding(f"has a file whose name a build may read as more than a name: {odd[0]!r}")
    if made := [path for path in touched if path.endswith(tuple(endings))]:
        return Finding(f"adds what a compiler or an archiver makes: {_listed(made)}")
    patterns = [re.compile(pattern) for pattern in lines]
    opened = set(evidence.get("build_files", ()))  # which a rule of their own judges
    for row in (row for row in source["lines"] if row["file"] not in opened):
        if result := next((match for pattern in patterns if (match := pattern.search(row["text"]))), None):
            return Finding(
                f"a build does more than compile sources: {result[0].strip()!r} added in "
                f"{row['file']}:{row['line']}"
            )
    others = [path for path in source["others"] if path not in source["binary"] and path not in opened]
    return Finding(f"changes files that are no sources in C or C++: {_listed(others)}") if others else None


def _listed(items: Sequence[str]) -> str:
    more = f", and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more
