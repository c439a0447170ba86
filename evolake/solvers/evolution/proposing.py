"""The coder's turn in a cycle: from plans to variants with documents, judged, and repaired a bounded number of times.

By operators a variant is its base with a list of edits (`edits.json`), made afresh from the base each time, so that it can be made again. By a model
it is its parent with a unified diff, applied strictly. A diff that does not apply, sources that are not changed, and a gate's objection all go back
to the coder as text; what still fails then is a blocked variant: a value with its verdicts. Nothing here runs or builds a candidate: `judge` does.
Another author (`authors`) gives its diff once: what the gates object to is the end of its variant.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from evolake.agents import AgentFailure, Agents, Reply
from evolake.gates.boundary import Raised, contained
from evolake.gates.in_turn import in_turn, side_by_side
from evolake.seeds import child_seed
from evolake.solvers.edits import Edit, write_edits
from evolake.solvers.evolution.authors import REFERENCE, Author, Commission
from evolake.solvers.evolution.planning import LINE, Base, KnownVariant
from evolake.solvers.evolution.proposing_make import Draft, make_draft, sources_diff
from evolake.solvers.evolution.proposing_requests import code_request, lookup_request, material_of, repair_request
from evolake.solvers.evolution.proposing_sources import cut_excerpts, excerpts, places_of, visible_files
from evolake.solvers.repository.unified_diff_parse import whole_hunks
from evolake.solvers.roles.coder import CODER, CODER_REPAIR, LOOKUP
from evolake.solvers.roles.models import SHORT_ID, CodeReply, CoderMaterial, Excerpt, Forbidden, Standing, Tried, with_short_ids
from evolake.solvers.settings import SolversSettings

LONGEST_TITLE = 60
"""Of a reply's title, as `CodeReply` has it."""
LENT = 0.25
"""Share in a child of a parent of another code base: it lends an idea, the child is made of the other's files."""
LONGEST_TOLD = 2000
EXISTS = "This variant exists already, source for source."


class Judgement(Protocol):
    """What the gates say of a folder. `blocked_by` is None where nothing objected; `feedback` is for the coder, and `output` what
    the program wrote where a run of it did not end well."""

    @property
    def variant_id(self) -> str: ...

    @property
    def blocked_by(self) -> Any: ...

    @property
    def feedback(self) -> str: ...

    @property
    def output(self) -> str: ...


Judge = Callable[[Path], Judgement]
WhoElse = Callable[[Mapping[str, Any]], Author | None]
"""Plan -> who else than the roles of the coder carries it out; None: they do."""


@dataclass(frozen=True)
class Proposal:
    """A variant that was made.

    weights: parent id -> share, summing to 1. diff: its sources against the first parent's. dropped: what a crossover, or an edit whose anchor was
    not found, left out. judged: what the gates said of its last form. repairs: how often the coder mended it. objections: what it was told each time.
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
    repairs: int
    objections: tuple[str, ...]

    @property
    def blocked(self) -> bool:
        return self.judged.blocked_by is not None


@dataclass(frozen=True)
class Unmade:
    """A plan that gave no variant: the coder's last answer could not be applied, or changed nothing."""

    plan_id: str
    reason: str
    objections: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposals:
    """Variants in the order of their plans; calls that gave no reply; plans that gave no variant."""

    variants: list[Proposal] = field(default_factory=list)
    failures: list[AgentFailure] = field(default_factory=list)
    unmade: list[Unmade] = field(default_factory=list)


@dataclass(frozen=True)
class _Context:
    """What every turn of a cycle shares."""

    agents: Agents
    into: Path
    judge: Judge
    settings: SolversSettings
    cycle: str
    root_seed: int
    rules: Sequence[str]
    knowledge: Sequence[str]
    forbidden: Sequence[Forbidden]
    author: WhoElse
    bases: Mapping[str, Base]
    tried: list[Tried] = field(default_factory=list)

    @property
    def operators(self) -> bool:
        return self.agents.backend.name == "operators"

    def seed(self, purpose: str, index: int) -> int:
        return child_seed(self.root_seed, LINE, self.cycle, purpose, index)

    def fresh(self, number: int, attempt: int | str) -> Path:
        folder = self.into / f"{number:03d}-{attempt}"
        if folder.exists():
            shutil.rmtree(folder)
        return folder


@dataclass(frozen=True)
class _Turn:
    """One plan on its way to a variant. drafts: gets each that was made."""

    plan: Mapping[str, Any]
    parents: list[KnownVariant]
    base: Base
    standing: Standing
    material: CoderMaterial | None = None
    crossed: tuple[dict[str, Any], ...] = ()
    shown: tuple[Excerpt, ...] = ()
    drafts: list[Draft] = field(default_factory=list)
    cut: tuple[Excerpt, ...] = ()


def propose_variants(
    agents: Agents, plans: Sequence[Mapping[str, Any]], known: Mapping[str, KnownVariant], bases: Mapping[str, Base],
    standing: Mapping[str, Standing], into: Path, judge: Judge, *, settings: SolversSettings, cycle: str, root_seed: int, rules: Sequence[str] = (),
    knowledge: Sequence[str] = (), forbidden: Sequence[Forbidden] = (), existing: Sequence[str] = (),
    taken: Mapping[str, Sequence[str]] | None = None, author: WhoElse = lambda plan: None,
    workers: int = 1,
) -> Proposals:
    """A variant for each plan, as far as one can be made. What a reply makes raise is its plan's end, never the cycle's.

    Plans are carried out one after another, and whoever writes is told what became of those before: what a coder knows follows from the plans alone
    and not from whose build was quicker, so that a cycle replays to the same bytes.

    Args:
        plans: rows of PLANS. known: parents by whole id. standing: lines by short id, from `planning.standings`.
        into: an empty folder; each attempt gets one in it. judge: the gates, or those of them that the caller wants fed back.
        rules: what blocks a variant, in words. knowledge: what is known of solvers, in words.
        existing: ids of all variants there are; one that is made again is unmade.
        taken: base -> texts of `edits.json` that exist, beside those of `known`.
        author: see `WhoElse`.
        workers: how many plans of the operators are carried out at one time.
    """
    context = _Context(agents, into, judge, settings, cycle, root_seed, rules, knowledge, forbidden, author, bases)
    texts = {base: set(items) for base, items in (taken or {}).items()}
    for item in known.values():
        if item.edits is not None:
            texts.setdefault(item.base, set()).add(write_edits(item.edits))
    turns = _Turns(context, known, bases, standing, set(existing) | set(known), texts)
    if context.operators and all(context.author(plan) is None for plan in plans):
        done = in_turn(plans, partial(side_by_side, turns.apart, workers=workers), still=turns.still, settle=turns.settle)
    else:  # each after those before it, so that nobody pays for a double
        done = []
        for plan in plans:
            done.append(turns.take(plan, context))
            turns.settle(plan, done[-1])
            summary = contained(_told, plan, known, done[-1].outcome)
            context.tried.extend([] if isinstance(summary, Raised) else [summary])
    result = Proposals()
    for plan, element in zip(plans, done, strict=True):
        outcome = element.outcome
        if isinstance(outcome, AgentFailure):
            result.failures.append(outcome)
            outcome = Unmade(plan["plan_id"], f"{outcome.role}: {outcome.reason}")
        if isinstance(outcome, Unmade):
            result.unmade.append(outcome)
        else:
            result.variants.append(outcome)
    return result


@dataclass(frozen=True)
class _Done:
    """What came of a plan. tried: ids of all its drafts. written: base and text of the edits of each. agents: who was asked, where it was apart."""

    outcome: Proposal | Unmade | AgentFailure
    tried: frozenset[str]
    written: frozenset[tuple[str, str]]
    agents: Agents | None


@dataclass(frozen=True)
class _Turns:
    """The coder's turns of a cycle. ids: of all variants there are; texts: base -> edits that exist; both with those made on plans before."""

    context: _Context
    known: Mapping[str, KnownVariant]
    bases: Mapping[str, Base]
    standing: Mapping[str, Standing]
    ids: set[str]
    texts: dict[str, set[str]]

    def apart(self, plan: Mapping[str, Any]) -> _Done:
        """A plan carried out beside others, under what exists now. Called by threads."""
        agents = self.context.agents.apart()
        return replace(self.take(plan, replace(self.context, agents=agents)), agents=agents)

    def take(self, plan: Mapping[str, Any], context: _Context) -> _Done:
        """A plan carried out. What it makes raise is its end."""
        if missing := [parent for parent in plan["parent_ids"] if parent not in self.known]:
            why = f"its parent {missing[0][:SHORT_ID]} may not be built on in this cycle"
            return _Done(Unmade(plan["plan_id"], why), frozenset(), frozenset(), None)
        parents = [self.known[parent] for parent in plan["parent_ids"]]
        base = self.bases[parents[0].base]
        drafts: list[Draft] = []
        turn = _Turn(plan, parents, base, self.standing[parents[0].variant_id[:SHORT_ID]], drafts=drafts)
        made = contained(_make if context.author(plan) is None else _take, context, turn, self.ids, self.texts.get(base.name, set()))
        outcome = Unmade(plan["plan_id"], made.reason) if isinstance(made, Raised) else made
        written = frozenset((base.name, write_edits(draft.edits)) for draft in drafts if draft.edits is not None)
        return _Done(outcome, frozenset(draft.variant_id for draft in drafts if not draft.problem), written, None)

    def still(self, plan: Mapping[str, Any], done: _Done) -> _Done | None:
        """The same, where none of its drafts has been made by now that was not there; operators pass over what is there, so only their drafts can
        meet others."""
        if isinstance(done.outcome, Unmade) and not done.tried:
            return done
        met = done.tried & self.ids or any(text in self.texts.get(base, ()) for base, text in done.written)
        return None if met else done

    def settle(self, plan: Mapping[str, Any], done: _Done) -> None:
        """What the plans after this one meet."""
        if done.agents is not None:
            self.context.agents.take_in(done.agents)
        if isinstance(done.outcome, Proposal):
            self.ids.add(done.outcome.variant_id)
            if done.outcome.edits is not None:
                self.texts.setdefault(done.outcome.base, set()).add(write_edits(done.outcome.edits))


def _make(context: _Context, turn: _Turn, ids: set[str], texts: set[str]) -> Proposal | Unmade | AgentFailure:
    """First draft and repairs. What was judged last stands, should a later answer be of no use."""
    prepared = _prepared(context, turn, texts)
    if isinstance(prepared, AgentFailure):
        return prepared
    turn = prepared
    number = turn.plan["number"]
    commission = _commission(context, turn)
    request = code_request(commission, turn.shown, turn.cut, turn.material)
    replied: Reply[CodeReply | AgentFailure] = context.agents.call(CODER, request, seed=context.seed("code", number))
    last: Proposal | None = None
    objections: list[str] = []
    for attempt in range(context.settings.repair_attempts + 1):
        reply = replied.value
        if isinstance(reply, AgentFailure):
            return last or reply
        if reply.operator == "repeat" and context.operators:
            return last or Unmade(turn.plan["plan_id"], reply.changelog)
        written = reply if context.operators else reply.model_copy(update={"edits": None, "operator": None, "dropped": []})
        draft = make_draft(written, turn.plan, turn.parents, turn.base, context.fresh(number, attempt))
        turn.drafts.append(draft)
        objection, output = draft.problem or (EXISTS if draft.variant_id in ids else ""), ""
        if not objection:
            context.agents.assign(replied.call_id, draft.variant_id)
            judged = context.judge(draft.folder)
            last = _proposal(context, turn, written, draft, judged, objections)
            if judged.blocked_by is None:
                return last
            objection, output = judged.feedback, judged.output
        objections.append(objection)
        if attempt == context.settings.repair_attempts or (context.operators and draft.problem):
            break
        repair = repair_request(commission, written, draft, objection, output, turn.shown, turn.cut, turn.material)
        replied = context.agents.call(CODER_REPAIR, repair, seed=context.seed("repair", number * 100 + attempt), attempt=attempt)
    return last or Unmade(turn.plan["plan_id"], objections[-1], tuple(objections))


def _take(context: _Context, turn: _Turn, ids: set[str], texts: set[str]) -> Proposal | Unmade | AgentFailure:
    """What another author gives, made and judged once."""
    author, plan = context.author(turn.plan), turn.plan
    assert author is not None
    number = plan["number"]
    written = author.write(_commission(context, turn))
    if isinstance(written, AgentFailure):
        return written
    if written.reply is None:
        return Unmade(plan["plan_id"], written.reason)
    draft = make_draft(written.reply, plan, turn.parents, turn.base, context.fresh(number, 0))
    if draft.problem or draft.variant_id in ids:
        return Unmade(plan["plan_id"], draft.problem or EXISTS)
    written.made(draft.variant_id)
    turn = replace(turn, crossed=written.dropped)
    return _proposal(context, turn, written.reply, draft, context.judge(draft.folder), (), origin=author.origin)


def _prepared(context: _Context, turn: _Turn, texts: set[str]) -> _Turn | AgentFailure:
    """With what the backend needs: edits as data for the operators, excerpts that it asked for for a model."""
    number = turn.plan["number"]
    if context.operators:
        material, crossed = material_of(turn.plan, turn.parents, turn.base, context.fresh(number, "join"), texts, context.forbidden)
        return replace(turn, material=material, crossed=crossed)
    files = _visible(context, turn)
    request = lookup_request(turn.plan, turn.parents[0], turn.base, files)
    reply = context.agents.call(LOOKUP, request, seed=context.seed("lookup", number)).value
    if isinstance(reply, AgentFailure):
        return reply
    return replace(turn, shown=tuple(excerpts(files, reply.regions)), cut=tuple(cut_excerpts(files, reply.regions)))


def _visible(context: _Context, turn: _Turn) -> dict[str, str]:
    """The files that the coder may change, and, where the second parent is of another code base, that one's, below `reference/`."""
    files = visible_files(turn.parents[0].folder, turn.base.adapter)
    for other in turn.parents[1:]:
        if other.base != turn.base.name:
            lent = visible_files(other.folder, context.bases[other.base].adapter)
            files |= {f"{REFERENCE}/{other.base}/{path.removeprefix('src/')}": text for path, text in lent.items()}
    return files


def _commission(context: _Context, turn: _Turn) -> Commission:
    """What whoever writes is asked for."""
    return Commission(
        turn.plan, turn.parents, turn.base, turn.standing, context.rules, context.seed("code", turn.plan["number"]), context.bases,
        context.knowledge, tuple(context.tried),
    )


def _told(plan: Mapping[str, Any], known: Mapping[str, KnownVariant], made: Proposal | Unmade | AgentFailure) -> Tried:
    """What the coders of later plans hear of this one."""
    parent = known[plan["parent_ids"][0]]
    shared = {"parent_id": parent.variant_id[:SHORT_ID], "base": parent.base, "hypothesis": plan["hypothesis"][:600]}
    if isinstance(made, Unmade | AgentFailure):
        return Tried(variant_id="", title="", outcome="unmade", reason=made.reason[:600], **shared)
    blocked = made.judged.blocked_by
    return Tried(
        variant_id=made.variant_id[:SHORT_ID], title=made.title, outcome="blocked" if blocked else "passed", gate=getattr(blocked, "gate", ""),
        reason=with_short_ids(blocked.reason)[:600] if blocked else "", places=places_of(made.diff, made.folder),
        diff=whole_hunks(made.diff, LONGEST_TOLD), **shared,
    )


def whole_title(title: str, edits: Sequence[Edit]) -> str:
    """Return the whole description of the edit that a title is the beginning of, else the title.

    A reply's title has at most `LONGEST_TITLE` characters; operators cut the description of their edit there, and tables need not.
    """
    whole = (edit.described() for edit in edits)
    return next((text for text in whole if len(title) == LONGEST_TITLE and text.startswith(title)), title)


def _proposal(
    context: _Context, turn: _Turn, reply: CodeReply, draft: Draft, judged: Judgement, objections: Sequence[str], origin: str = "",
) -> Proposal:
    shares = [1.0] if len(turn.parents) == 1 else [0.5, 0.5] if turn.parents[1].base == turn.base.name else [1 - LENT, LENT]
    return Proposal(
        variant_id=draft.variant_id, folder=draft.folder, base=turn.base.name, title=whole_title(reply.title, draft.edits or ()),
        operator=reply.operator or turn.plan["kind"],
        origin=origin or context.agents.backend.name, plan_id=turn.plan["plan_id"], hypothesis=turn.plan["hypothesis"], changelog=reply.changelog,
        weights=tuple((parent.variant_id, share) for parent, share in zip(turn.parents, shares, strict=True)), edits=draft.edits,
        diff=sources_diff(turn.parents[0].folder, draft.folder), dropped=(*turn.crossed, *draft.dropped), judged=judged,
        repairs=len(objections), objections=tuple(objections),
    )
