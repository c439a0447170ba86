"""Carry out the plans of a cycle, one after another or, by operators, side by side: from plans to judged
variants with documents. One plan is a first draft and its repairs by the roles of the coder, or one diff by
another author.

By operators a variant is its base with a list of edits (`edits.json`), made from the base each time, so that
it can be made again. By a model it is its parent with a unified diff, applied strictly. A diff that does not
apply, sources that are not changed, and a gate's objection all go back to the coder as text; what still fails
then is a blocked variant: a value with its verdicts. `judge` alone runs or builds a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.attempts import SiblingNote
from evolake.gates.boundary import Raised, contained
from evolake.gates.run import in_turn, side_by_side
from evolake.solvers.edits import write_edits
from evolake.solvers.evolution.authors import REFERENCE, Author, Commission
from evolake.solvers.evolution.coder_turn import (
    TRIAL,
    CoderInput,
    CoderTurn,
    Trial,
    code_request,
    lookup_request,
    operators_input,
    repair_request,
    revise_request,
)
from evolake.solvers.evolution.drafts import (
    Draft,
    ExistingVariants,
    FailedProposal,
    Proposal,
    Proposals,
    make_draft,
    proposal_of,
)
from evolake.solvers.evolution.excerpt import excerpts, places_of, regions_without_asking, visible_files
from evolake.solvers.evolution.planning import KnownVariant, ParentPool
from evolake.solvers.repository.unified_diff import whole_hunks
from evolake.solvers.roles.coder import CODER, CODER_REPAIR, CODER_REVISE, LOOKUP
from evolake.solvers.roles.models import SHORT_ID, CodeReply, Tried, with_short_ids

LOSS = 1 / 1.1
"""Cost ratio of a trial up to which the coder may revise: what differs less is noise, and a gain leaves
nothing to revise."""
EXISTS = "This variant exists already, source for source."


def write_by_roles(
    turn: CoderTurn, commission: Commission, existing: ExistingVariants, drafts: list[Draft]
) -> Proposal | FailedProposal | AgentFailure:
    """Make the first draft and repair it. What was judged last is kept if a later answer is of no use.
    drafts: gets each that was made."""
    shown = _coder_input(turn, commission, existing)
    if isinstance(shown, AgentFailure):
        return shown
    plan, number, last = commission.plan, commission.plan["number"], None
    replied: Reply[CodeReply | AgentFailure] = turn.agents.call(
        CODER, code_request(commission, shown), seed=commission.seed
    )
    objections: list[str] = []
    for attempt in range(turn.settings.repair_attempts + 1):
        reply = replied.value
        if isinstance(reply, AgentFailure):
            return last or reply
        if reply.operator == "repeat" and turn.operators:
            return last or FailedProposal(plan["plan_id"], reply.changelog)
        written = (
            reply
            if turn.operators
            else reply.model_copy(update={"edits": None, "operator": None, "dropped": []})
        )
        draft = make_draft(written, plan, commission.parents, commission.base, turn.fresh(number, attempt))
        drafts.append(draft)
        objection, output = draft.problem or (EXISTS if draft.variant_id in existing.ids else ""), ""
        if not objection:
            turn.agents.assign(replied.call_id, draft.variant_id)
            judged = turn.judge(draft.folder)
            last = proposal_of(
                commission,
                written,
                draft,
                judged,
                origin=turn.agents.backend.name,
                crossed=shown.crossed,
                objections=objections,
            )
            if judged.blocked_by is None:
                return (
                    last
                    if turn.operators
                    else _measured_and_revised(
                        turn, commission, existing, shown, _Judged(last, draft), drafts
                    )
                )
            objection, output = judged.feedback, judged.output
        objections.append(objection)
        if attempt == turn.settings.repair_attempts or (turn.operators and draft.problem):
            break
        repair = repair_request(commission, shown, written, draft, objection, output)
        repair = repair.model_copy(
            update={
                "note": f"{commission.note}\nRepair {attempt + 1} of at most {turn.settings.repair_attempts}.".strip()  # noqa: E501
            }
        )
        replied = turn.agents.call(
            CODER_REPAIR, repair, seed=turn.seeds.seed("repair", number * 100 + attempt), attempt=attempt
        )
    return last or FailedProposal(plan["plan_id"], objections[-1], tuple(objections))


@dataclass(frozen=True)
class _Judged:
    """A variant that passed its gates, and its files."""

    variant: Proposal
    draft: Draft


def _measured_and_revised(
    turn: CoderTurn,
    commission: Commission,
    existing: ExistingVariants,
    shown: CoderInput,
    first: _Judged,
    drafts: list[Draft],
) -> Proposal:
    """Run a variant next to its parent, show the coder the figures if it costs more, and judge and run what
    the coder makes of them.

    The cheaper of the two stays.
    """
    number = commission.plan["number"]
    trial = _trial(turn, commission, first.draft)
    if trial is None:
        return first.variant
    kept = replace(first.variant, trials=tuple(trial.rows))
    if trial.ratio > LOSS or trial.noise:
        return kept
    asked = revise_request(commission, shown, first.draft, trial.text)
    replied = turn.agents.call(CODER_REVISE, asked, seed=turn.seeds.seed("revise", number))
    turn.agents.assign(replied.call_id, kept.variant_id)
    reply = replied.value
    if isinstance(reply, AgentFailure) or not reply.diff.strip():
        return kept
    written = reply.model_copy(update={"edits": None, "operator": None, "dropped": []})
    draft = make_draft(
        written, commission.plan, commission.parents, commission.base, turn.fresh(number, "revised")
    )
    drafts.append(draft)
    if draft.problem or draft.variant_id in existing.ids:
        return kept
    judged = turn.judge(draft.folder)
    if judged.blocked_by is not None:
        return kept
    again = _trial(turn, commission, draft)
    if again is None:
        return kept
    rows = (*trial.rows, *(row for row in again.rows if row["variant_id"] == draft.variant_id))
    if again.ratio <= trial.ratio:
        return replace(kept, trials=rows)
    turn.agents.assign(replied.call_id, draft.variant_id)
    revised = proposal_of(
        commission,
        written,
        draft,
        judged,
        origin=turn.agents.backend.name,
        crossed=shown.crossed,
        objections=first.variant.objections,
    )
    return replace(revised, trials=rows)


def _trial(turn: CoderTurn, commission: Commission, draft: Draft) -> Trial | None:
    """Return the trial of a draft as it was measured first, so that a replay shows the same figures; None if
    there is no such round."""
    trial, name = turn.trial, f"{TRIAL}\x1f{commission.plan['plan_id']}\x1f{draft.variant_id}"
    kept = (
        None
        if trial is None
        else turn.agents.measured(name, lambda: trial(commission, draft.folder).record())
    )
    return None if kept is None else Trial(**kept)


def write_by_author(
    turn: CoderTurn, commission: Commission, existing: ExistingVariants, author: Author
) -> Proposal | FailedProposal | AgentFailure:
    """Make and judge once what another author gives: an objection of the gates is the end of its variant."""
    plan = commission.plan
    written = author.write(commission)
    if isinstance(written, AgentFailure):
        return written
    if written.reply is None:
        return FailedProposal(plan["plan_id"], written.reason)
    draft = make_draft(
        written.reply, plan, commission.parents, commission.base, turn.fresh(plan["number"], 0)
    )
    if draft.problem or draft.variant_id in existing.ids:
        return FailedProposal(plan["plan_id"], draft.problem or EXISTS)
    written.made(draft.variant_id)
    return proposal_of(
        commission,
        written.reply,
        draft,
        turn.judge(draft.folder),
        origin=author.origin,
        crossed=written.dropped,
    )


def _coder_input(
    turn: CoderTurn, commission: Commission, existing: ExistingVariants
) -> CoderInput | AgentFailure:
    """Return what the backend needs: edits as data for the operators, excerpts that it asked for for a
    model."""
    number, base = commission.plan["number"], commission.base
    if turn.operators:
        return operators_input(
            commission, turn.fresh(number, "join"), existing.edits.get(base.name, set()), turn.rules.forbidden
        )
    files = _visible(commission)
    regions = regions_without_asking(
        files, f"{commission.plan['hypothesis']}\n{commission.plan['instructions']}"
    )
    if regions:
        return CoderInput(shown=tuple(excerpts(files, regions, most=len(regions))))
    request = lookup_request(commission.plan, commission.parents[0], base, files)
    reply = turn.agents.call(LOOKUP, request, seed=turn.seeds.seed("lookup", number)).value
    if isinstance(reply, AgentFailure):
        return reply
    return CoderInput(shown=tuple(excerpts(files, reply.regions)))


def _visible(commission: Commission) -> dict[str, str]:
    """Return the files that the coder may change and, if the second parent is of another code base, that
    one's, below `reference/`."""
    files = visible_files(commission.parents[0].folder, commission.base.adapter)
    for other in commission.parents[1:]:
        if other.base != commission.base.name:
            lent = visible_files(other.folder, commission.bases[other.base].adapter)
            files |= {
                f"{REFERENCE}/{other.base}/{path.removeprefix('src/')}": text for path, text in lent.items()
            }
    return files


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
