"""What becomes of a plan: a proposed variant, or the reason why there is none. From a coder's reply to a
variant on disk: sources, edits.json and the documents that gate 0 asks for; a new one must differ from all
that exist.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evolake.agents import AgentFailure
from evolake.solvers.edits import EDITS_FILE, Edit, apply_edits, write_edits
from evolake.solvers.evolution.authors import Commission
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.repository.variant import apply_diff, diff_sources, source_sha
from evolake.solvers.roles.coder import edits_of
from evolake.solvers.roles.models import CodeReply
from evolake.solvers.rules.programs import declared_level

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


LONGEST_TITLE = 60
"""Of a reply's title, as `CodeReply` has it."""
LENT = 0.25
"""Share in a child of a parent of another code base: it lends an idea, the child is made of the other's
files."""


class Judgement(Protocol):
    """What the gates say of a folder. `blocked_by` is None if nothing objected; `feedback` is for the coder,
    and `output` what the program wrote where a run of it did not end well."""

    @property
    def variant_id(self) -> str:
        """Return the variant's id."""
        ...

    @property
    def blocked_by(self) -> Any:
        """Return the verdict that blocks the variant, or None."""
        ...

    @property
    def feedback(self) -> str:
        """Return what the coder is shown about the verdict."""
        ...

    @property
    def output(self) -> str:
        """Return the output of the build or the run that failed."""
        ...


Judge = Callable[[Path], Judgement]


@dataclass(frozen=True)
class Proposal:
    """A variant that was made.

    weights: parent id -> share, summing to 1. diff: its sources against the first parent's. dropped: what a
    crossover, or an edit whose anchor was not found, left out. judged: what the gates said of its last form.
    repairs: how often the coder repaired it. objections: what it was shown each time. trials: rows of RUNS,
    of it and its parent before the benchmark.
    """

    variant_id: str
    folder: Path
    base: str
    title: str
    operator: str
    origin: str
    plan_id: str
    hypothesis: str
    changelog: str
    weights: tuple[tuple[str, float], ...]
    edits: tuple[Edit, ...] | None
    diff: str
    dropped: tuple[dict[str, Any], ...]
    judged: Judgement
    objections: tuple[str, ...]
    trials: tuple[Mapping[str, Any], ...] = ()

    @property
    def blocked(self) -> bool:
        """Return whether a gate blocked the variant."""
        return self.judged.blocked_by is not None

    @property
    def repairs(self) -> int:
        """Return how many repairs were tried."""
        return len(self.objections)


@dataclass(frozen=True)
class FailedProposal:
    """A plan that gave no variant: the coder's last answer could not be applied, or changed nothing."""

    plan_id: str
    reason: str
    objections: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposals:
    """Variants in the order of their plans; calls that gave no reply; plans that gave no variant."""

    variants: list[Proposal] = field(default_factory=list)
    failures: list[AgentFailure] = field(default_factory=list)
    failed_proposals: list[FailedProposal] = field(default_factory=list)

    def add(self, plan: Mapping[str, Any], outcome: Proposal | FailedProposal | AgentFailure) -> None:
        """Add the outcome of one plan; a plan whose call failed is a failed proposal, too."""
        if isinstance(outcome, AgentFailure):
            self.failures.append(outcome)
            self.failed_proposals.append(FailedProposal(plan["plan_id"], f"{outcome.role}: {outcome.reason}"))
        elif isinstance(outcome, FailedProposal):
            self.failed_proposals.append(outcome)
        else:
            self.variants.append(outcome)


def proposal_of(
    commission: Commission,
    reply: CodeReply,
    draft: Draft,
    judged: Judgement,
    *,
    origin: str,
    crossed: Sequence[dict[str, Any]] = (),
    objections: Sequence[str] = (),
) -> Proposal:
    """Return the variant that a judged draft is. crossed: what the crossover of its parents left out."""
    parents, base, plan = commission.parents, commission.base, commission.plan
    if len(parents) == 1:
        shares = [1.0]
    elif parents[1].base == base.name:
        shares = [0.5, 0.5]
    else:
        shares = [1 - LENT, LENT]
    return Proposal(
        variant_id=draft.variant_id,
        folder=draft.folder,
        base=base.name,
        title=whole_title(reply.title, draft.edits or ()),
        operator=reply.operator or plan["kind"],
        origin=origin,
        plan_id=plan["plan_id"],
        hypothesis=plan["hypothesis"],
        changelog=reply.changelog,
        weights=tuple((parent.variant_id, share) for parent, share in zip(parents, shares, strict=True)),
        edits=draft.edits,
        diff=sources_diff(parents[0].folder, draft.folder),
        dropped=(*crossed, *draft.dropped),
        judged=judged,
        objections=tuple(objections),
    )


def whole_title(title: str, edits: Sequence[Edit]) -> str:
    """Return the whole description of the edit that a title is the beginning of, else the title.

    A reply's title has at most `LONGEST_TITLE` characters; operators cut the description of their edit there,
    and tables need not.
    """
    whole = (edit.described() for edit in edits)
    return next((text for text in whole if len(title) == LONGEST_TITLE and text.startswith(title)), title)


@dataclass(frozen=True)
class ExistingVariants:
    """Variants that a new one must differ from. ids: of their sources. edits: base -> texts of
    `edits.json`."""

    ids: set[str] = field(default_factory=set)
    edits: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> ExistingVariants:
        """Return those of rows of VARIANTS."""
        result = cls()
        for row in rows:
            result.add(row["variant_id"], row["base"], row["edits"])
        return result

    def add(self, variant_id: str, base: str, edits: str | None) -> None:
        """Add a variant. edits: its `edits.json`; None for one that was written as a diff."""
        self.ids.add(variant_id)
        if edits is not None:
            self.edits.setdefault(base, set()).add(edits)

    def with_parents(self, parents: Iterable[KnownVariant]) -> ExistingVariants:
        """Return a copy that has these, too."""
        result = ExistingVariants(set(self.ids), {base: set(texts) for base, texts in self.edits.items()})
        for item in parents:
            result.add(item.variant_id, item.base, None if item.edits is None else write_edits(item.edits))
        return result

    def has(self, variant_ids: Iterable[str], written: Iterable[tuple[str, str]]) -> bool:
        """Return whether one of these exists. written: base and text of `edits.json`."""
        return not self.ids.isdisjoint(variant_ids) or any(
            text in self.edits.get(base, ()) for base, text in written
        )
