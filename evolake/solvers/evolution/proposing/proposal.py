"""What becomes of a plan: a proposed variant, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evolake.agents import AgentFailure
from evolake.solvers.edits import Edit
from evolake.solvers.evolution.authors import Commission
from evolake.solvers.evolution.proposing.draft import Draft, sources_diff
from evolake.solvers.roles.models import CodeReply

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
