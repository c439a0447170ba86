"""Checkers of a variant's repository: layout, documents, files that may not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from evolake.gates import Finding, checker

NAMED = 3


@checker("solvers.layout")
def layout(evidence: Mapping[str, Any]) -> Finding | None:
    """The folder is laid out as a variant's repository."""
    problems = evidence["layout"]
    return Finding(f"layout: {_listed(problems)}") if problems else None


@checker("solvers.documents")
def documents(evidence: Mapping[str, Any], *, least: Mapping[str, int]) -> Finding | None:
    """Each document of `least` is there with at least so many characters beside white space."""
    for name, wanted in least.items():
        found = evidence["documents"].get(name)
        if found is None:
            return Finding(f"{name} is missing")
        if found < wanted:
            return Finding(f"{name} has {found} characters; at least {wanted} are wanted")
    return None


@checker("solvers.frozen_files")
def frozen_files(evidence: Mapping[str, Any], *, globs: Sequence[str]) -> Finding | None:
    """Files that match `globs` are those of the base, and nothing that is added is a binary or a link."""
    source = evidence["source"]
    if source["binary"]:
        return Finding(f"holds files that are no text: {_listed(source['binary'])}")
    changed = [path for path in source["others"] if any(fnmatch(path, pattern) for pattern in globs)]
    return Finding(f"changes files that are the pipeline's: {_listed(changed)}") if changed else None


def _listed(items: Sequence[str]) -> str:
    more = f", and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more
