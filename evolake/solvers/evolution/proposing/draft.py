"""From a coder's reply to a variant on disk: sources, edits.json and the documents that gate 0 asks for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.solvers.edits import EDITS_FILE, Edit, apply_edits, write_edits
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.repository.variant import apply_diff, diff_sources, source_sha
from evolake.solvers.roles.coder import edits_of
from evolake.solvers.roles.models import CodeReply
from evolake.solvers.rules.build_files import declared_level

HYPOTHESIS, CHANGELOG, RESULTS = "HYPOTHESIS.md", "CHANGELOG.md", "RESULTS.md"


@dataclass(frozen=True)
class Draft:
    """A variant on disk, before its gates. `problem` is set where the reply could not be applied or changed
    nothing; the coder is shown."""

    folder: Path
    variant_id: str
    edits: tuple[Edit, ...] | None
    dropped: tuple[dict[str, Any], ...]
    problem: str = ""


def make_draft(
    reply: CodeReply, plan: Mapping[str, Any], parents: Sequence[KnownVariant], base: Base, folder: Path
) -> Draft:
    """Write the variant to `folder`, which must not exist."""
    parent = parents[0]
    edits, dropped, problem = None, (), ""
    if reply.edits is not None:
        edits, dropped, problem = _by_edits(edits_of(reply.edits), parent, base, folder)
    else:
        problem = _by_diff(reply.diff, parent, base, folder)
    if not problem and source_sha(folder) == source_sha(parent.folder):
        problem = "The sources are the parent's, character for character: nothing was changed."
    write_documents(folder, plan, parents, reply)
    return Draft(folder, source_sha(folder), edits, dropped, problem)


def write_documents(
    folder: Path, plan: Mapping[str, Any], parents: Sequence[KnownVariant], reply: CodeReply
) -> None:
    """HYPOTHESIS.md and CHANGELOG.md of this variant, and a RESULTS.md that says that there are none yet."""
    named = "\n".join(f"* {parent.variant_id} ({parent.title})" for parent in parents)
    hypothesis = (
        f"# Hypothesis\n\n{plan['hypothesis']}\n\n## What to change\n\n{plan['instructions']}\n\n## "
        f"Parents\n\n{named}\n"
    )
    (folder / HYPOTHESIS).write_text(hypothesis)
    lost = "".join(f"* {item}\n" for item in reply.dropped)
    left_out = f"\n## Left out\n\n{lost}" if lost else ""
    level = declared_level(parents[0].folder / CHANGELOG)
    built = f"\nBuild flags: {level}\n" if level and "Build flags:" not in reply.changelog else ""
    (folder / CHANGELOG).write_text(f"# {reply.title}\n\n{reply.changelog}\n{built}{left_out}")
    (folder / RESULTS).write_text("# Results\n\nNot evaluated yet.\n")


def sources_diff(parent: Path, child: Path) -> str:
    """Return unified diff of the sources, parent to child."""
    return diff_sources(parent, child)


def _by_edits(
    edits: tuple[Edit, ...], parent: KnownVariant, base: Base, folder: Path
) -> tuple[tuple[Edit, ...] | None, tuple[dict[str, Any], ...], str]:
    """From the base, where the parent is made of edits; else on top of the parent, and then there is no list
    of edits for the whole."""
    start = base.folder if parent.edits is not None else parent.folder
    shutil.copytree(start, folder, symlinks=True)
    (folder / EDITS_FILE).unlink(missing_ok=True)
    outcomes = apply_edits(folder, base.adapter, edits)
    applied = tuple(outcome.edit for outcome in outcomes if outcome.applied)
    dropped = tuple(
        {"what": outcome.edit.key, "parent": 0, "reason": outcome.status, "detail": outcome.detail}
        for outcome in outcomes
        if not outcome.applied
    )
    if parent.edits is None:
        return None, dropped, "" if applied else _unapplied_text(dropped)
    (folder / EDITS_FILE).write_text(write_edits(applied))
    return applied, dropped, "" if applied or not edits else _unapplied_text(dropped)


def _by_diff(diff: str, parent: KnownVariant, base: Base, folder: Path) -> str:
    shutil.copytree(parent.folder, folder, symlinks=True)
    (folder / EDITS_FILE).unlink(missing_ok=True)
    if not diff.strip():
        return "There is no diff: `diff` must hold one unified diff over all files."
    result = apply_diff(folder, diff, editable=base.adapter.may_change)
    return (
        ""
        if result.applied
        else "The diff does not apply:\n" + "\n".join(f"* {problem}" for problem in result.problems)
    )


def _unapplied_text(dropped: Sequence[Mapping[str, Any]]) -> str:
    return "No edit could be applied: " + "; ".join(
        f"{item['what']}: {item['reason']}, {item['detail']}" for item in dropped
    )
