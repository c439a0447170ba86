"""Who writes a variant in another way than by one diff or by edits: a session of a model, a command of the
user's own, a tree that a user submits.

An author gives a title, a changelog and a diff against the first parent. From there on its variant is made,
guarded and judged as any other: the diff is applied strictly to a fresh copy of the parent, and only where
the adapter lets sources be edited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evolake.agents import AgentFailure
from evolake.agents.session_tools import LONGEST_FILE, Outside, Workspace
from evolake.scratch import Scratch
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.repository.unified_diff_paths import matches
from evolake.solvers.repository.variant import diff_sources, sources_of
from evolake.solvers.roles.models import CodeReply, FamilyResult, Standing, Tried

REFERENCE = "reference"
"""Where whoever writes finds the sources of other solvers, which are read and never changed."""
NOTHING_CHANGED = "no source file was changed"
MOST_CONTESTS = 2


@dataclass(frozen=True)
class CoderFacts:
    """What decides, as coders are sent it.

    contests: in words. families: short ids of variants -> their results by family. conditions: of measuring.
    """

    champion: str = ""
    contests: Sequence[str] = ()
    families: Callable[[Sequence[str]], list[FamilyResult]] = field(default=lambda names: [])
    conditions: Sequence[str] = ()


@dataclass(frozen=True)
class Commission:
    """What an author is asked for: one plan, on these parents. rules: what blocks a variant, in words. seed:
    of this plan.

    bases: all seeds, by name. knowledge: what is known, in words. tried: what became of the plans before this
    one. facts: what decides. note: which plan of the cycle this is. long_rules: the rules with their whole
    texts.
    """

    plan: Mapping[str, Any]
    parents: Sequence[KnownVariant]
    base: Base
    standing: Standing
    rules: Sequence[str]
    seed: int
    bases: Mapping[str, Base] = field(default_factory=dict)
    knowledge: Sequence[str] = ()
    tried: Sequence[Tried] = ()
    facts: CoderFacts = field(default_factory=CoderFacts)
    note: str = ""
    long_rules: Sequence[str] = ()

    def change(self) -> dict[str, Any]:
        """Return the fields of a `Change` that say what decides: champion, contests of the parent, results by
        family, conditions."""
        parent = self.standing.variant_id
        return {
            "champion": self.facts.champion,
            "contests": [text for text in self.facts.contests if parent in text][-MOST_CONTESTS:],
            "families": self.facts.families(list(dict.fromkeys(filter(None, [parent, self.facts.champion])))),
            "conditions": list(self.facts.conditions),
            "note": self.note,
        }

    @property
    def second_base(self) -> Base:
        """What the last of the parents descends from."""
        return self.bases.get(self.parents[-1].base, self.base)


@dataclass(frozen=True)
class Authored:
    """What an author gives. reply: title, changelog and diff; else `reason` says why there is none. made:
    called with the variant that came of it."""

    reply: CodeReply | None
    reason: str = ""
    dropped: tuple[dict[str, Any], ...] = ()
    made: Callable[[str], None] = field(default=lambda variant_id: None)


class Author(Protocol):
    """`origin` is that of the variants that it writes."""

    @property
    def origin(self) -> str:
        """Return who wrote: the origin of rows."""
        ...

    def write(self, commission: Commission) -> Authored | AgentFailure:
        """Return what was written for a commission, or why there is nothing."""
        ...


def references_of(commission: Commission) -> dict[str, KnownVariant | Base]:
    """Return the trees that may be read next to the variant's: the other seeds, with a second parent in place
    of the seed that it descends from."""
    result: dict[str, KnownVariant | Base] = {
        f"{REFERENCE}/{name}": base for name, base in commission.bases.items() if name != commission.base.name
    }
    return result | {
        f"{REFERENCE}/{other.base}": other
        for other in commission.parents[1:]
        if other.base != commission.base.name
    }


def reference_files(commission: Commission) -> dict[str, str]:
    """Return path below `reference/` -> text, of all files that may be read next to its own. Bytes that are
    no UTF-8 are lone surrogates."""
    return {
        f"{place}/{name.removeprefix('src/')}": path.read_bytes().decode("utf-8", "surrogateescape")
        for place, tree in references_of(commission).items()
        for name, path in sources_of(tree.folder).items()
    }


def source_workspace(variant: KnownVariant, base: Base) -> Workspace:
    """Return the sources of a variant, all to be seen, those to be edited that its adapter lets."""
    return Workspace.of_folder(
        variant.folder, sources_of(variant.folder), lambda path: matches(path, base.adapter.may_change)
    )


def diff_of(workspace: Workspace, parent: KnownVariant) -> str:
    """Return what a workspace changed in its parent, as a unified diff."""
    with Scratch("authored") as place:
        folder = Path(place) / "variant"
        workspace.lay_out(parent.folder, folder)
        return diff_sources(parent.folder, folder)


def taken_tree(tree: Path, parent: KnownVariant, base: Base) -> tuple[str, tuple[dict[str, Any], ...], str]:
    """Return a tree that a session or a command left, as a diff against the parent.

    Only regular files where the adapter lets sources be edited are read; links are not followed. What else
    differs is left out and reported.

    Returns:
        The diff, rows of what was left out, and why there is no diff ("" if there is one).
    """
    workspace = source_workspace(parent, base)
    there = sources_of(tree)
    if vast := next(
        (
            name
            for name, path in there.items()
            if workspace.may_edit(name) and path.stat().st_size > LONGEST_FILE
        ),
        None,
    ):
        return "", (), f"{vast} would have more than {LONGEST_FILE} characters"
    changes: dict[str, str | None] = {
        name: path.read_bytes().decode("utf-8", "surrogateescape")
        for name, path in there.items()
        if workspace.may_edit(name)
    }
    changes |= {name: None for name in workspace.files if workspace.may_edit(name) and name not in there}
    try:
        workspace.take({name: text for name, text in changes.items() if text != workspace.files.get(name)})
    except Outside as error:
        return "", (), str(error)
    outside = [
        name
        for name in sorted(set(there) | set(workspace.files))
        if not workspace.may_edit(name) and _differ(there.get(name), parent.folder / name)
    ]
    left = tuple(
        {"what": name, "parent": 0, "reason": "not-editable", "detail": "a file that may not be changed"}
        for name in outside[:20]
    )
    diff = diff_of(workspace, parent)
    return diff, left, "" if diff else NOTHING_CHANGED


def _differ(first: Path | None, other: Path) -> bool:
    """Return whether two files differ; one that is not there does from one that is."""
    if first is None or not other.is_file():
        return (first is None) is other.is_file()
    return first.stat().st_size != other.stat().st_size or first.read_bytes() != other.read_bytes()
