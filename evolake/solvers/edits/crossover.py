"""Crossover: what two parents of one base changed, in one child. What conflicts is dropped from the second
parent, and each drop is said.

By edits where both parents are made of edits: the union, applied to the base. By files where at least one was
written as a diff: a file that only one parent changed is taken from it, a file that both changed differently
stays the first parent's.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evolake.solvers.edits.apply import edited
from evolake.solvers.edits.model import Edit

DropReason = Literal[
    "same-edit-other-values", "slot-taken", "overlap", "does-not-apply", "file-changed-by-both"
]


@dataclass(frozen=True)
class Dropped:
    """What a crossover left out. `what` is an edit's key or a file's path; `parent` is 1 or 2: whose change
    it was."""

    what: str
    parent: int
    reason: DropReason
    detail: str

    def row(self) -> dict[str, Any]:
        """Return the row of the dropped edit."""
        return {"what": self.what, "parent": self.parent, "reason": self.reason, "detail": self.detail}

    def __str__(self) -> str:
        return f"{self.what} of parent {self.parent} ({self.reason}: {self.detail})"


@dataclass(frozen=True)
class Crossed:
    """The child's edits, and what was left out."""

    edits: tuple[Edit, ...]
    dropped: tuple[Dropped, ...]


def cross_edits(
    files: Mapping[str, str], adapter: Any, first: Sequence[Edit], second: Sequence[Edit]
) -> Crossed:
    """Return the union of two parents' edits on the base whose texts are `files`; the first parent's win.

    An edit that both have with the same values is one edit and no conflict.
    """
    mine = {edit.key: edit for edit in first}
    dropped = []
    joined = list(first)
    owner = dict.fromkeys(mine, 1)
    for edit in second:
        other = mine.get(edit.key)
        if other is None:
            joined.append(edit)
            owner[edit.key] = 2
        elif other != edit:
            dropped.append(
                Dropped(
                    edit.key, 2, "same-edit-other-values", f"{edit.described()} against {other.described()}"
                )
            )
    _, outcomes = edited(files, adapter, joined)
    kept = []
    for outcome in outcomes:
        if outcome.applied:
            kept.append(outcome.edit)
            continue
        reason: DropReason = (
            outcome.status if outcome.status in ("slot-taken", "overlap") else "does-not-apply"
        )
        dropped.append(Dropped(outcome.edit.key, owner[outcome.edit.key], reason, outcome.detail))
    return Crossed(tuple(kept), tuple(dropped))


def cross_files(base: Path, first: Path, second: Path, into: Path, editable: Sequence[str]) -> list[Dropped]:
    """Return a copy of the first parent with the files that only the second changed against the base; what
    was left out.

    Args:
        into: is made. editable: globs, relative to a variant, of what may differ (the adapter's).
    """
    shutil.copytree(first, into, symlinks=True)
    dropped = []
    for path in sorted(
        {*_matching(base, editable), *_matching(first, editable), *_matching(second, editable)}
    ):
        old, mine, theirs = (_bytes(folder / path) for folder in (base, first, second))
        if theirs in (old, mine):
            continue
        if mine != old:
            dropped.append(Dropped(path, 2, "file-changed-by-both", "the first parent's text stays"))
        elif theirs is None:
            (into / path).unlink()
        else:
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (into / path).write_bytes(theirs)
    return dropped


def changed_files(base: Path, variant: Path, editable: Sequence[str]) -> dict[str, str]:
    """Return path -> sha256 of its bytes in the variant ("" where it is gone), of the files that it changed
    in the base as far as they are editable."""
    texts = {
        path: (_bytes(base / path), _bytes(variant / path))
        for path in sorted({*_matching(base, editable), *_matching(variant, editable)})
    }
    return {
        path: "" if mine is None else hashlib.sha256(mine).hexdigest()
        for path, (old, mine) in texts.items()
        if mine != old
    }


def cross_gives_new(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return whether `cross_files` gives other sources than either parent's. Both are `changed_files` of one
    base."""
    return bool(set(second) - set(first)) and any(second.get(path) != sha for path, sha in first.items())


def _matching(folder: Path, editable: Sequence[str]) -> list[str]:
    return [
        path.relative_to(folder).as_posix()
        for pattern in editable
        for path in folder.glob(pattern)
        if path.is_file() and not path.is_symlink()
    ]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None
