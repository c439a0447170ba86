"""Applying edits: all of them meet the same base text, so their order decides only who wins a conflict.

Every edit is resolved to spans of the base files first; overlapping spans, taken slots and missing anchors
are outcomes of the edit that came later, and an edit is applied whole or not at all. Then the spans are
spliced in one pass per file. Insertions at one point do not conflict; equal ones count once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.solvers.edits.anchors import Span, file_named, find, source_files
from evolake.solvers.edits.catalogue import PATCHES, family_of
from evolake.solvers.edits.model import Edit, EditOutcome, OutcomeStatus, Rewrite
from evolake.solvers.edits.tunables import Tunable, read_tunables


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
