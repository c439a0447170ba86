"""Carry out the plans of a cycle, one after another or, by operators, side by side: from plans to judged
variants with documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.attempts import SiblingNote
from evolake.gates.boundary import Raised, contained
from evolake.gates.run import in_turn, side_by_side
from evolake.solvers.edits import write_edits
from evolake.solvers.evolution.authors import Commission
from evolake.solvers.evolution.planning import KnownVariant, ParentPool
from evolake.solvers.evolution.proposing.coder_turn import CoderTurn
from evolake.solvers.evolution.proposing.draft import Draft
from evolake.solvers.evolution.proposing.excerpt import places_of
from evolake.solvers.evolution.proposing.existing import ExistingVariants
from evolake.solvers.evolution.proposing.proposal import FailedProposal, Proposal, Proposals
from evolake.solvers.evolution.proposing.write import write_by_author, write_by_roles
from evolake.solvers.repository.unified_diff_parse import whole_hunks
from evolake.solvers.roles.models import SHORT_ID, Tried, with_short_ids

LONGEST_TOLD = 2000


def propose_variants(
    turn: CoderTurn,
    plans: Sequence[Mapping[str, Any]],
    pool: ParentPool,
    existing: ExistingVariants | None = None,
) -> Proposals:
    """Return a variant for each plan, as far as one can be made. An exception while handling a reply ends its
    plan, never the cycle.

    Plans are carried out one after another, and the coder is sent the outcomes of those before. What it is
    sent depends on the plans alone and not on which build was faster, so that a cycle replays to the same
    bytes.

    Args:
        plans: rows of PLANS. existing: all variants there are; one that is made again is a failed proposal.
    """
    known = {item.variant_id: item for item in pool.variants}
    work = _PlansOfCycle(
        turn, pool, known, (existing or ExistingVariants()).with_parents(pool.variants), count=len(plans)
    )
    if turn.operators and all(turn.author(plan) is None for plan in plans):
        done = in_turn(
            plans,
            partial(side_by_side, work.apart, workers=turn.workers),
            still=work.still,
            record=work.record,
        )
    else:  # each after those before it, so that nobody pays for a double
        done = []
        for plan in plans:
            done.append(work.take(plan, turn))
            work.record(plan, done[-1])
            summary = contained(_tried_of, plan, known, done[-1].outcome)
            work.tried.extend([] if isinstance(summary, Raised) else [summary])
    result = Proposals()
    for plan, element in zip(plans, done, strict=True):
        result.add(plan, element.outcome)
    return result


@dataclass(frozen=True)
class _PlanDone:
    """What came of a plan. tried: ids of all its drafts. written: base and text of the edits of each. agents:
    who was asked, where it was apart."""

    outcome: Proposal | FailedProposal | AgentFailure
    tried: frozenset[str] = frozenset()
    written: frozenset[tuple[str, str]] = frozenset()
    agents: Agents | None = None


@dataclass(frozen=True)
class _PlansOfCycle:
    """The plans of a cycle on their way. existing: all variants there are, with those made on plans before.
    tried: what became of those plans. count: how many plans the cycle has."""

    turn: CoderTurn
    pool: ParentPool
    known: Mapping[str, KnownVariant]
    existing: ExistingVariants
    tried: list[Tried] = field(default_factory=list)
    count: int = 1

    def apart(self, plan: Mapping[str, Any]) -> _PlanDone:
        """Carry out a plan next to others, under what exists now. Called by threads."""
        agents = self.turn.agents.apart()
        return replace(self.take(plan, replace(self.turn, agents=agents)), agents=agents)

    def take(self, plan: Mapping[str, Any], turn: CoderTurn) -> _PlanDone:
        """Carry out a plan. What it makes raise is its end."""
        if missing := [parent for parent in plan["parent_ids"] if parent not in self.known]:
            return _PlanDone(
                FailedProposal(
                    plan["plan_id"], f"its parent {missing[0][:SHORT_ID]} may not be built on in this cycle"
                )
            )
        commission, author = self._commission(plan), turn.author(plan)
        drafts: list[Draft] = []
        if author is None:
            made = contained(write_by_roles, turn, commission, self.existing, drafts)
        else:
            made = contained(write_by_author, turn, commission, self.existing, author)
        outcome = FailedProposal(plan["plan_id"], made.reason) if isinstance(made, Raised) else made
        written = frozenset(
            (commission.base.name, write_edits(draft.edits)) for draft in drafts if draft.edits is not None
        )
        return _PlanDone(
            outcome, frozenset(draft.variant_id for draft in drafts if not draft.problem), written
        )

    def still(self, plan: Mapping[str, Any], done: _PlanDone) -> _PlanDone | None:
        """Return the same, if none of its drafts has been made by now that was not there; operators pass over
        what is there, so only their drafts can meet others."""
        if isinstance(done.outcome, FailedProposal) and not done.tried:
            return done
        return None if self.existing.has(done.tried, done.written) else done

    def record(self, plan: Mapping[str, Any], done: _PlanDone) -> None:
        """Add what the plans after this one meet."""
        if done.agents is not None:
            self.turn.agents.take_in(done.agents)
        if isinstance(done.outcome, Proposal):
            edits = done.outcome.edits
            self.existing.add(
                done.outcome.variant_id, done.outcome.base, None if edits is None else write_edits(edits)
            )

    def _commission(self, plan: Mapping[str, Any]) -> Commission:
        """Return what the coder is asked for."""
        parents = [self.known[parent] for parent in plan["parent_ids"]]
        rules, standing = self.turn.rules, self.pool.standing_of(parents[0].variant_id)
        return Commission(
            plan,
            parents,
            self.pool.bases[parents[0].base],
            standing,
            rules.lines or rules.texts,
            self.turn.seeds.seed("code", plan["number"]),
            self.pool.bases,
            rules.knowledge,
            tuple(self.tried),
            self.turn.facts,
            SiblingNote(number=plan["number"] + 1, count=max(self.count, plan["number"] + 1)).text(),
            rules.texts,
        )


def _tried_of(
    plan: Mapping[str, Any], known: Mapping[str, KnownVariant], made: Proposal | FailedProposal | AgentFailure
) -> Tried:
    """Return what the coders of later plans are shown of this one."""
    parent = known[plan["parent_ids"][0]]
    shared = {
        "parent_id": parent.variant_id[:SHORT_ID],
        "base": parent.base,
        "hypothesis": plan["hypothesis"][:600],
    }
    if isinstance(made, FailedProposal | AgentFailure):
        return Tried(variant_id="", title="", outcome="unmade", reason=made.reason[:600], **shared)
    blocked = made.judged.blocked_by
    return Tried(
        variant_id=made.variant_id[:SHORT_ID],
        title=made.title,
        outcome="blocked" if blocked else "passed",
        gate=getattr(blocked, "gate", ""),
        reason=with_short_ids(blocked.reason)[:600] if blocked else "",
        places=places_of(made.diff, made.folder),
        diff=whole_hunks(made.diff, LONGEST_TOLD),
        **shared,
    )
