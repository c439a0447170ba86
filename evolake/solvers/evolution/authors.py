"""Write a variant in another way than by one diff or by edits: by a session of a model, a command of the
user's own, or a tree that a user submits.

An author gives a title, a changelog and a diff against the first parent. From there on its variant is made,
guarded and judged as any other: the diff is applied strictly to a fresh copy of the parent, and only where
the adapter lets sources be edited. A submitted tree is a row of `solvers.submissions` with its tree among the
blobs, and enters the next cycle as a plan that is carried out already. Which cycle that is is decided when it
is stored, so that an old cycle materializes again with what it had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from evolake.agents import AgentFailure
from evolake.agents.guidance import LOCK_WAIT_S, next_cycle
from evolake.agents.session_tools import LONGEST_FILE, Outside, Workspace
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.blobs import BlobStore
from evolake.scratch import Scratch
from evolake.solvers.evolution.planning import LINE, Base, KnownVariant
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.unified_diff import matches
from evolake.solvers.repository.variant import (
    archive_variant,
    diff_sources,
    is_laid_out,
    read_card,
    repository_in,
    sources_of,
)
from evolake.solvers.roles.models import CodeReply, FamilyResult, Standing, Tried
from evolake.solvers.tables import SUBMISSIONS, VARIANTS

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


ASSET = "submissions"
SUBMITTED = "submitted"
LONGEST_HYPOTHESIS = 6_000


@dataclass(frozen=True)
class SubmissionAuthor:
    """Carries out the plans that submissions are. cache: where their trees are unpacked."""

    blobs: BlobStore
    origin: str = SUBMITTED

    def write(self, commission: Commission) -> Authored:
        """Return the submitted tree, as a diff against its parent."""
        with Scratch("submitted") as place:
            folder = Path(place) / "tree"
            self.blobs.get_tree(str(commission.plan["target"]), folder)
            diff, left, problem = taken_tree(folder, commission.parents[0], commission.base)
        if problem:
            return Authored(None, problem, left)
        title = " ".join(commission.plan["hypothesis"].split())[:60]
        return Authored(
            CodeReply(
                title=title,
                changelog=f"Submitted: {commission.plan['hypothesis']}"[:LONGEST_HYPOTHESIS],
                diff=diff,
            ),
            dropped=left,
        )


def submit(
    lake: Lake,
    folder: Path,
    parent: str,
    hypothesis: str,
    *,
    adapters: Path,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> dict[str, Any]:
    """Keep a tree for the next cycle; return its row. The same tree on the same parent for the same cycle is
    kept once.

    Args:
        folder: a repository of the layout. parent: id of a variant that entered the newest cycle, or the
            beginning of it.

    Raises:
        InputError: no such parent, no repository of its base, nothing or something else than sources changed,
            or no hypothesis.
        PartitionBusy: another process has been writing submissions for ten seconds.
    """
    text = hypothesis.strip()
    if not text or len(text) > LONGEST_HYPOTHESIS:
        raise InputError(
            "a submission needs a hypothesis",
            wanted=f"1 to {LONGEST_HYPOTHESIS} characters",
            got=f"{len(text)} characters",
        )
    folder, row = repository_in(folder), _parent(lake, parent)
    if not is_laid_out(folder):
        do = (
            f"evolake show {row['variant_id'][:12]} --out DIR writes the parent; change its sources and "
            "submit that"
        )
        raise InputError(
            f"{folder} is no repository of the layout",
            wanted="a variant.toml, src/ and what the parent has in addition",
            do=do,
        )
    card = read_card(folder)
    if card["base"] != row["base"]:
        raise InputError(
            f"{folder} descends from another seed than its parent",
            wanted=row["base"],
            got=card["base"],
            do="name a parent of its base",
        )
    with Scratch("submit") as place:
        tree = Path(place) / "parent"
        lake.blobs.get_tree(row["archive_sha"], tree)
        known = KnownVariant(row["variant_id"], row["base"], row["title"], row["operator"], tree, None)
        _, left, problem = taken_tree(
            folder, known, Base(row["base"], tree, load_adapter(card["adapter"], adapters))
        )
    if problem or left:
        what = problem or f"{left[0]['what']} differs from the parent's, and may not be changed"
        do = "change only what its adapter lets be edited"
        raise InputError(
            f"{folder} cannot be submitted: {what}", wanted="the parent with changed sources", do=do
        )
    sha = archive_variant(folder, lake.blobs)
    with lake.line_lock(ASSET, run_id="submit", timeout_s=LOCK_WAIT_S):
        rows = _rows(lake)
        cycle = next_cycle(lake, LINE)
        name = hashlib.sha256("\x1f".join([sha, row["variant_id"], cycle]).encode()).hexdigest()
        new = {
            "submission_id": name,
            "cycle": cycle,
            "parent_id": row["variant_id"],
            "hypothesis": text,
            "tree_sha": sha,
            "created_at": clock(),
        }
        if result := next((item for item in rows if item["submission_id"] == name), None):
            return result
        lake.publish(
            LINE, ASSET, SUBMISSIONS.frame([*rows, new]), cycle=None, run_id="submit", schema=SUBMISSIONS
        )
    return new


def submitted_plans(lake: Lake, cycle: str, first: int) -> list[dict[str, Any]]:
    """Return rows of PLANS of what was submitted for a cycle, oldest first. first: their first number."""
    rows = [row for row in _rows(lake) if row["cycle"] == cycle]
    return [
        {
            "plan_id": row["submission_id"],
            "cycle": cycle,
            "number": first + number,
            "parent_ids": [row["parent_id"]],
            "kind": "rewrite",
            "target": row["tree_sha"],
            "hypothesis": row["hypothesis"],
            "instructions": "Submitted as a whole tree.",
            "assessment": "",
            "origin": SUBMITTED,
            "guidance": [],
        }
        for number, row in enumerate(rows)
    ]


def is_submitted(plan: Mapping[str, Any]) -> bool:
    """Return whether a plan is a submission."""
    return plan["origin"] == SUBMITTED


def _parent(lake: Lake, parent: str) -> dict[str, Any]:
    cycles = lake.seals.cycles(LINE)
    if not cycles:
        raise InputError(
            "there is no population to submit to",
            wanted="a lake whose solvers line has begun",
            do="evolake run --lines solvers",
        )
    variants: Sequence[Mapping[str, Any]] = lake.read(
        LINE, f"incoming_{VARIANTS.name}", max(cycles)
    ).to_dicts()
    result = [
        dict(row)
        for row in variants
        if parent and row["variant_id"].startswith(parent) and row["state"] != "blocked"
    ]
    if len(result) != 1:
        live = ", ".join(
            row["variant_id"][:12] for row in variants if row["state"] in ("accepted", "champion")
        )
        what = (
            f"{'several variants begin' if result else 'no variant that may be built on begins'} with "
            f"{parent!r}"
        )
        raise InputError(
            what,
            wanted="the id of one",
            got=live or None,
            do='evolake sql "SELECT variant_id, title, state FROM solvers.incoming_variants" shows them',
        )
    return result[0]


def _rows(lake: Lake) -> list[dict[str, Any]]:
    return [] if lake.record(LINE, ASSET) is None else lake.read(LINE, ASSET).to_dicts()
