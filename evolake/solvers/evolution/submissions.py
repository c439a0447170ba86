"""Trees that a person or another tool submits: each enters the next cycle as a plan that is carried out
already, and is judged as any other variant.

A submission is a row of `solvers.submissions` with its tree among the blobs. Which cycle it enters is decided
when it is stored, as for guidance, so that an old cycle materializes again with what it had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolake.agents.guidance import LOCK_WAIT_S, next_cycle
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.blobs import BlobStore
from evolake.scratch import Scratch
from evolake.solvers.evolution.authors import Authored, Commission, taken_tree
from evolake.solvers.evolution.planning import LINE, Base, KnownVariant
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import archive_variant, is_laid_out, read_card, repository_in
from evolake.solvers.roles.models import CodeReply
from evolake.solvers.tables import SUBMISSIONS, VARIANTS

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
            self.blobs.get_tree(tree_of(commission.plan), folder)
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


def tree_of(plan: Mapping[str, Any]) -> str:
    """Return the blob with the tree of a submission."""
    return str(plan["target"])


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
