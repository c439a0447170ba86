"""Apply edits to a base: all of them meet the same text, so their order decides only who wins a conflict;
and join what two parents of one base changed in one child.

Every edit is resolved to spans of the base files first; overlapping spans, taken slots and missing anchors
are outcomes of the edit that came later, and an edit is applied whole or not at all. Then the spans are
spliced in one pass per file. Insertions at one point do not conflict; equal ones count once.

What conflicts in a crossover is dropped from the second parent, and each drop is said. By edits where both
parents are made of edits: the union, applied to the base. By files where at least one was written as a diff:
a file that only one parent changed is taken from it, a file that both changed differently stays the first
parent's.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evolake.solvers.edits.anchors import Span, Tunable, file_named, find, read_tunables, source_files
from evolake.solvers.edits.catalogue import PATCHES, Edit, EditOutcome, OutcomeStatus, Rewrite, family_of


@dataclass(frozen=True)
class Splice:
    """New text for a span; an empty span is an insertion."""

    span: Span
    text: str
    support: bool = False

    @property
    def insertion(self) -> bool:
        """Return whether text is added and none replaced."""
        return self.span.start == self.span.end

    def overlaps(self, other: Splice) -> bool:
        """Return whether both want the same characters. Equal splices, insertions at one point and touching
        spans do not."""
        if self.span.path != other.span.path or self == other:
            return False
        if self.insertion and other.insertion:
            return False
        if self.insertion or other.insertion:
            point, area = (self.span.start, other.span) if self.insertion else (other.span.start, self.span)
            return area.start < point < area.end
        return self.span.start < other.span.end and other.span.start < self.span.end


def apply_edits(folder: Path, adapter: Any, edits: Sequence[Edit]) -> list[EditOutcome]:
    """Apply edits to the sources under `folder`, in place; an outcome for each, in order.

    Args:
        adapter: of the base; `name` and `tunables` are read.
    """
    files = source_files(folder)
    changed, outcomes = edited(files, adapter, edits)
    for path, text in changed.items():
        (folder / path).write_bytes(text.encode("latin-1"))
    return outcomes


def edited(
    files: Mapping[str, str], adapter: Any, edits: Sequence[Edit]
) -> tuple[dict[str, str], list[EditOutcome]]:
    """Do as `apply_edits` on texts: the changed files, and an outcome for each edit."""
    known = {tunable.name: tunable for tunable in read_tunables(files, adapter.tunables)}
    taken: dict[str, str] = {}
    accepted: list[Splice] = []
    outcomes = []
    for edit in edits:
        outcome, splices = _resolve(files, family_of(adapter), known, edit)
        slot = _slot(edit)
        if outcome.applied and slot in taken:
            outcome = EditOutcome(edit, "slot-taken", f"{slot} is already decided by {taken[slot]}")
        clash = (
            next((other for other in accepted for splice in splices if splice.overlaps(other)), None)
            if outcome.applied
            else None
        )
        if clash is not None:
            outcome = EditOutcome(edit, "overlap", f"another edit changes the same code of {clash.span.path}")
        if outcome.applied:
            taken[slot] = edit.name
            accepted.extend(splice for splice in splices if splice not in accepted)
        outcomes.append(outcome)
    return _spliced(files, accepted), outcomes


def _slot(edit: Edit) -> str:
    return PATCHES[edit.name].slot if edit.kind == "patch" and edit.name in PATCHES else edit.key


def _resolve(
    files: Mapping[str, str], family: str, known: Mapping[str, Tunable], edit: Edit
) -> tuple[EditOutcome, list[Splice]]:
    return _resolve_tunable(known, edit) if edit.kind == "tunable" else _resolve_patch(files, family, edit)


def _resolve_tunable(known: Mapping[str, Tunable], edit: Edit) -> tuple[EditOutcome, list[Splice]]:
    tunable = known.get(edit.name)
    if tunable is None:
        return EditOutcome(
            edit, "unknown-edit", f"no option {edit.name!r} that may be moved is declared here"
        ), []
    if set(edit.parameters) != {"value"}:
        return EditOutcome(edit, "out-of-range", "a tunable has the one parameter `value`"), []
    value = edit.parameters["value"]
    if problem := tunable.problem(value):
        return EditOutcome(edit, "out-of-range", f"{edit.name}: {problem}"), []
    if value == tunable.default:
        return EditOutcome(edit, "no-change", f"{edit.name} is {value} already"), []
    return EditOutcome(edit, "applied", files=(tunable.span.path,)), [
        Splice(tunable.span, tunable.written(value))
    ]


def _resolve_patch(files: Mapping[str, str], family: str, edit: Edit) -> tuple[EditOutcome, list[Splice]]:
    spec = PATCHES.get(edit.name)
    if spec is None:
        return EditOutcome(edit, "unknown-edit", f"no patch is called {edit.name!r}"), []
    if family not in spec.forms:
        return EditOutcome(
            edit,
            "not-for-this-base",
            f"{edit.name} has no form for {family}; it has {', '.join(sorted(spec.forms))}",
        ), []
    if set(edit.parameters) != set(spec.parameters):
        return EditOutcome(
            edit, "out-of-range", f"{edit.name} needs {', '.join(sorted(spec.parameters))}"
        ), []
    for name, parameter in spec.parameters.items():
        if problem := parameter.problem(edit.parameters[name]):
            return EditOutcome(edit, "out-of-range", f"{name}: {problem}"), []
    splices = place_rewrites(files, spec.rewrites(family, edit.parameters))
    if not isinstance(splices, list):
        return EditOutcome(edit, *splices), []
    touched = {file_named(files, ending) for ending in spec.files(family)}
    return EditOutcome(edit, "applied", files=tuple(sorted(path for path in touched if path))), splices


def place_rewrites(
    files: Mapping[str, str], rewrites: Sequence[Rewrite]
) -> list[Splice] | tuple[OutcomeStatus, str]:
    """Return where rewrites change the text, in their order; or why one of them cannot: the outcome, and one
    line that names the anchor."""
    splices = []
    for rewrite in rewrites:
        span = find(files, rewrite.path, rewrite.anchor)
        if isinstance(span, str):
            status: OutcomeStatus = (
                "anchor-missing" if span.startswith("anchor-missing") else "anchor-ambiguous"
            )
            return status, span.partition(": ")[2]
        if rewrite.place != "replace":
            point = span.start if rewrite.place == "before" else span.end
            span = Span(span.path, point, point)
        splices.append(Splice(span, rewrite.text, rewrite.support))
    return splices


def _spliced(files: Mapping[str, str], splices: Sequence[Splice]) -> dict[str, str]:
    """Return the changed files. At one point: support first, then in the order of their text, so that the
    order of edits leaves no mark."""
    changed: dict[str, str] = {}
    for path in sorted({splice.span.path for splice in splices}):
        mine = sorted(
            (s for s in splices if s.span.path == path),
            key=lambda s: (s.span.start, s.span.end, not s.support, s.text),
        )
        parts, position, text = [], 0, files[path]
        for splice in mine:
            parts += [text[position : splice.span.start], splice.text]
            position = splice.span.end
        changed[path] = "".join([*parts, text[position:]])
    return changed


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
