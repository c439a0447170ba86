"""The evolution agent's turn in a cycle: parents are drawn, children proposed, taken through the gates, mended by what the gates say, or given up.

Operators take turns, so each has its share; a child that passed is known to the near-duplicate gate from then on. Attempts of the operators' are made
side by side and held against each other in their order (`gates.in_turn`). Which parents, which operator and which random numbers depend on the root
seed, the cycle and the number of the proposal alone. Nothing here decides: the gates do. A reply that makes
our code raise before the gates is a failure with its reason, and the next one is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session.role import require_model
from evolake.compute.remote_jail import RemotePool, jails_here
from evolake.compute.shared import Shared
from evolake.errors import HostBusy, InputError
from evolake.families.evolution.author_session import SAW as SESSION_SAW
from evolake.families.evolution.author_session import SessionAuthor
from evolake.families.evolution.authorship import OPERATORS as COMPOSED
from evolake.families.evolution.authorship import authorship_rows
from evolake.families.evolution.observations import Observation
from evolake.families.evolution.refining import Refinement, SubmissionGuard, refine
from evolake.families.evolution.requests import LINE, EvolutionSources, request_of
from evolake.families.evolution.validator_pool import Written, complete
from evolake.families.gates.judging import FamilyGates, FamilyResults
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.loading import UncheckedFamily, make_family
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.operators.common import named
from evolake.families.roles.evolution import EVOLUTION_ROLE, FamilyRequest
from evolake.families.roles.evolution_session import EVOLUTION_SESSION
from evolake.families.roles.models import CurateRequest, Draft, EvolveReply, EvolveRequest
from evolake.families.roles.quality import CURATOR_ROLE
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.gates import Raised, contained
from evolake.gates.in_turn import in_turn, side_by_side
from evolake.seeds import child_seed

OPERATOR = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")
"""What a reply may call its operator; anything else is `written`. It becomes part of names and of files."""
MOST_LESSONS = 30
"""Lessons that proposers are told."""
T = TypeVar("T")
Failure = tuple[int, str, str]
"""(number of an attempt, operator, why there was no family at all)"""
Judge = Callable[[Family, Sequence[Fingerprint]], FamilyResults]
"""(family, fingerprints of all known ones) -> the family after its gates: `judging.FamilyGates`, for example."""


@dataclass(frozen=True)
class Proposal:
    """One attempt. operator: the one asked for; the family's own `operator` says which one made it. family: the delivered version, or None."""

    number: int
    operator: str
    refinement: Refinement

    @property
    def family(self) -> Family | None:
        return self.refinement.family

    @property
    def rounds(self) -> tuple[FamilyResults, ...]:
        """Every version with what the gates said, in order."""
        return self.refinement.rounds


@dataclass(frozen=True)
class Proposals:
    """Of a cycle. authors: rows of VALIDATOR_AUTHORS, of every version."""

    proposals: tuple[Proposal, ...]
    failures: tuple[Failure, ...]
    authors: tuple[dict[str, Any], ...] = ()

    @property
    def accepted(self) -> list[FamilyResults]:
        """The delivered families, after their gates."""
        return [proposal.rounds[-1] for proposal in self.proposals if proposal.family is not None]

    @property
    def observations(self) -> list[Observation]:
        """Of all blocked versions, in order."""
        return [observation for proposal in self.proposals for observation in proposal.refinement.observations]


def propose_families(
    agents: Agents, sources: EvolutionSources, *, pool: Any, judge: Judge, settings: FamiliesSettings, cycle: str, root_seed: int,
    count: int | None = None,
) -> Proposals:
    """`count` attempts (default: `settings.families_per_cycle`), each with up to `settings.refinements` refinements.

    Args:
        judge: the gates. Where it is a `FamilyGates` and the operators propose, attempts are made side by side.

    Raises:
        InputError: the population is empty, or operators are to hold sessions. MachineryError: the jail failed, or the budget is spent.
    """
    if not sources.population:
        raise InputError("no families to evolve from", wanted="a population of at least one family", do="materialize the seeds first")
    check_evolution_agent(settings, agents.backend.name)
    session = SessionAuthor(agents, pool, settings, root_seed) if settings.evolution_agent == "session" else None
    requests = [
        request_of(sources, number, cycle=cycle, root_seed=root_seed, settings=settings)
        for number in range(settings.families_per_cycle if count is None else count)
    ]
    taken = {family.family_id for family in sources.population} | sources.fingerprints.keys()
    attempts = _Attempts(agents, judge, pool, settings, cycle, root_seed, requests, taken, list(sources.known), session)
    if isinstance(judge, FamilyGates) and agents.backend.name == "operators":
        made = in_turn(range(len(requests)), attempts.beside_each_other, still=attempts.still, settle=attempts.settle)
    else:
        made = attempts.one_by_one()
    outcomes = [item.outcome for item in made]
    return Proposals(
        tuple(item for item in outcomes if isinstance(item, Proposal)), tuple(item for item in outcomes if not isinstance(item, Proposal)),
        tuple(row for item in made for row in item.authors),
    )


def check_evolution_agent(settings: FamiliesSettings, backend: str) -> None:
    """Raises InputError where the setting `evolution_agent` cannot be followed."""
    require_model("an evolution agent", EVOLUTION_SESSION, settings.evolution_agent, backend)


def learn(
    agents: Agents, existing: Sequence[str], observations: Sequence[Observation], *, settings: FamiliesSettings, cycle: str, root_seed: int
) -> list[str]:
    """The experience after these observations; what there was where the curator gives no usable reply."""
    lessons = [observation.lesson for observation in observations if observation.lesson]
    request = CurateRequest(existing=list(existing), candidates=list(dict.fromkeys(lessons)), limit=MOST_LESSONS)
    if not lessons:
        return list(existing)
    reply = agents.call(CURATOR_ROLE, request, seed=child_seed(root_seed, LINE, cycle, "experience")).value
    return list(existing) if isinstance(reply, AgentFailure) else reply.items[:MOST_LESSONS]


def family_of(reply: EvolveReply | AgentFailure, request: EvolveRequest, *, whole: bool) -> Family | str:
    """The family that a reply holds, or why it holds none. whole: take the reply's `record`, which operators give, instead of its texts.

    A reply that names no parent has all that it was shown: each had its share. Where others write the validators, those in the reply are left out.
    """
    if isinstance(reply, AgentFailure):
        return f"{reply.status}: {reply.reason}"
    if not (reply.generator.strip() and reply.template.strip() and reply.validator.strip()):
        return reply.note or "an empty reply"
    if whole and reply.record is not None:
        return from_record(json.loads(reply.record))
    ids = [from_record(record).family_id for record in request.records]
    used = list(dict.fromkeys(ids[parent - 1] for parent in reply.used_parents if 0 < parent <= len(ids)))
    try:
        written = make_family("the reply", UncheckedFamily(
            name="written", title=reply.title or "written", category=reply.category, language=reply.language, generator=reply.generator,
            template=reply.template, validator=reply.validator, reader=reply.reader,
            validators={validator.name: validator.source for validator in reply.validators} if _together(request) else {},
            answer={"type": reply.answer_type}, parents=used or ids, operator=reply.operator if OPERATOR.match(reply.operator) else "written",
            mutations={},
        ))
    except InputError as error:
        return str(error)
    return named(written)


@dataclass(frozen=True)
class _Made:
    """What came of an attempt. taken: the ids that it took. authors: rows of VALIDATOR_AUTHORS. agents: who was asked."""

    outcome: Proposal | Failure
    taken: frozenset[str]
    authors: tuple[dict[str, Any], ...]
    agents: Agents


@dataclass
class _Attempts:
    """The attempts of a cycle. taken: ids that are there, and seen: fingerprints to differ from, both of the population and of attempts before."""

    agents: Agents
    judge: Judge
    pool: Any
    settings: FamiliesSettings
    cycle: str
    root_seed: int
    requests: Sequence[EvolveRequest]
    taken: set[str]
    seen: list[Fingerprint]
    session: SessionAuthor | None = None

    def __post_init__(self) -> None:
        self._at_start = len(self.seen)

    @property
    def gates(self) -> FamilyGates:
        """The judge, of attempts that are made apart."""
        assert isinstance(self.judge, FamilyGates)
        return self.judge

    def one_by_one(self) -> list[_Made]:
        """Each after those before it, so that nobody pays to have a double reviewed; a backend that may be asked several at once gives the replies
        beforehand."""
        ahead: list[Reply[EvolveReply | AgentFailure]] = []
        if self.agents.backend.threads > 1 and self.session is None:
            numbers = range(len(self.requests))
            asked = [self._request(number, self.taken) for number in numbers]
            ahead = self.agents.call_many(EVOLUTION_ROLE, asked, seeds=[self._seed(number) for number in numbers], attempts=list(numbers))
        made: list[_Made] = []
        for number in range(len(self.requests)):
            made.append(self._made(number, self.agents, self.judge, self.taken, ahead[number] if ahead else None))
            self._saw(made[-1].outcome)
        return made

    def beside_each_other(self, numbers: Sequence[int]) -> list[_Made]:
        """Attempts by threads of this process, or whole by the workers of a cluster."""
        if isinstance(self.pool, RemotePool):
            common = replace(self, agents=self.agents.apart(), judge=None, pool=None), replace(self.gates, pool=None, agents=None), self.pool.jail
            return self.pool.spread(_apart_there, common, numbers)
        return side_by_side(self.apart, numbers, self.pool.workers)

    def apart(self, number: int) -> _Made:
        """An attempt beside others, under what is taken and seen now. Called by threads."""
        agents = self.agents.apart()
        return self._made(number, agents, self.gates.by(agents), set(self.taken))

    def still(self, number: int, made: _Made) -> _Made | None:
        """The attempt beside all that are taken and seen by now; None where it would have gone another way. A child that operators passed over was
        there already, so only the ids that it took itself can meet others."""
        if made.taken & self.taken:
            return None
        if not isinstance(made.outcome, Proposal) or len(self.seen) == self._at_start:
            return made
        rounds = [self.gates.beside(item, self.seen) for item in made.outcome.rounds]
        if any(item is None for item in rounds):
            return None
        refinement = replace(made.outcome.refinement, rounds=tuple(item for item in rounds if item is not None))
        return replace(made, outcome=replace(made.outcome, refinement=refinement))

    def settle(self, number: int, made: _Made) -> None:
        """What the attempts after this one meet."""
        self.agents.take_in(made.agents)
        self.taken |= made.taken
        self._saw(made.outcome)

    def _saw(self, outcome: Proposal | Failure) -> None:
        if isinstance(outcome, Proposal):
            self.seen.extend(item.fingerprint for item in outcome.rounds if item.accepted and item.fingerprint is not None)

    def _made(
        self, number: int, agents: Agents, judge: Judge, taken: set[str], replied: Reply[EvolveReply | AgentFailure] | None = None
    ) -> _Made:
        """One attempt with its refinements. taken: gets the ids of its versions."""
        before, authors = frozenset(taken), list[dict[str, Any]]()
        try:
            outcome = self._attempted(number, agents, judge, taken, replied, authors)
        except HostBusy as error:
            outcome = number, self.requests[number].operator, f"unknown: {error.what}; it may be proposed again"
            authors.clear()
        return _Made(outcome, frozenset(taken - before), tuple(authors), agents)

    def _attempted(
        self, number: int, agents: Agents, judge: Judge, taken: set[str], replied: Reply[EvolveReply | AgentFailure] | None,
        authors: list[dict[str, Any]],
    ) -> Proposal | Failure:
        request = self._request(number, taken)
        attempt = _Attempt(agents, request, number, self.cycle, self.root_seed, self.pool, self.settings, taken, self.session, authors)
        if self.session is not None:
            replied = self.session.write(request, seed=self._seed(number), attempt=number)
        elif replied is None:
            replied = agents.call(EVOLUTION_ROLE, request, seed=self._seed(number), attempt=number)
        family = _value(contained(family_of, replied.value, request, whole=agents.backend.name == "operators"))
        whole = family if isinstance(family, str) else _value(contained(attempt.completed, family))
        if isinstance(whole, str) or isinstance(family, str):
            return number, request.operator, str(whole)
        if whole is None:
            return number, request.operator, f"family {family.family_id[:12]} is there already"
        agents.assign(replied.call_id, whole.family_id)
        seen, guard = tuple(self.seen), SubmissionGuard()
        done = refine(whole, lambda item: judge(item, seen), attempt.revised, rounds=self.settings.refinements, guard=guard)
        return Proposal(number, request.operator, done)

    def _request(self, number: int, taken: set[str]) -> EvolveRequest:
        return self.requests[number].model_copy(update={"taken": sorted(taken)})

    def _seed(self, number: int) -> int:
        return child_seed(self.root_seed, LINE, self.cycle, "evolve", number)


def _apart_there(common: Shared, number: int) -> _Made:
    """Runs in a worker: one attempt by its jails."""
    attempts, gates, mode = common.value()
    pool = jails_here(PRELOAD, mode)
    return replace(attempts, pool=pool, judge=replace(gates, pool=pool, agents=attempts.agents)).apart(number)


@dataclass
class _Attempt:
    """What the refinement of one family needs."""

    agents: Agents
    request: EvolveRequest
    number: int
    cycle: str
    root_seed: int
    pool: Any
    settings: FamiliesSettings
    taken: set[str]
    session: SessionAuthor | None
    authors: list[dict[str, Any]]

    def completed(self, family: Family) -> Family | None:
        """With the validators that it lacks, as far as the backend writes any. None where exactly this family is there already."""
        seed = child_seed(self.root_seed, LINE, self.cycle, "complete", self.number)
        written: list[Written] = []
        whole = complete(family, pool=self.pool, agents=self.agents, settings=self.settings, root_seed=seed, note=written.append)
        if whole.family_id in self.taken:
            return None
        self.taken.add(whole.family_id)
        author, saw = self._author()
        self.authors.extend(authorship_rows(whole, written, author=author, saw=saw, cycle=self.cycle))
        return whole

    def _author(self) -> tuple[str, tuple[str, ...]]:
        """Who writes what no other does, and what it sees."""
        if self.agents.backend.name == "operators":
            return COMPOSED, ("parents",)
        return (EVOLUTION_SESSION.name, SESSION_SAW) if self.session else (EVOLUTION_ROLE.name, ("parents",))

    def revised(self, family: Family, observation: Observation, round_number: int) -> Family | None:
        """As `revise`; None as well where the reply makes our code raise."""
        result = contained(self.revise, family, observation, round_number)
        return None if isinstance(result, Raised) else result

    def revise(self, family: Family, observation: Observation, round_number: int) -> Family | None:
        """Ask for a mended version; None where none came."""
        draft = Draft(
            generator=family.generator, template=stated(family), validator=family.validator, reader=family.reader,
            validators=dict(family.validators) if _together(self.request) or self.agents.backend.name == "operators" else {},
            kind=observation.kind, gate=observation.gate, reason=observation.reason, traces=list(observation.traces),
        )
        request = self.request.model_copy(update={"draft": draft, "draft_record": to_record(family), "taken": sorted(self.taken)})
        seed = child_seed(self.root_seed, LINE, f"{self.cycle}/{self.number}", "mend", round_number)
        if self.session is not None:
            reply = self.session.write(request, seed=seed, attempt=self.number, artifact_id=family.family_id).value
        else:
            reply = self.agents.call(EVOLUTION_ROLE, request, seed=seed, artifact_id=family.family_id).value
        result = family_of(reply, request, whole=self.agents.backend.name == "operators")
        if isinstance(result, str):
            return None
        mended = replace(result, parents=result.parents or family.parents)
        return self.completed(mended)


def _together(request: EvolveRequest) -> bool:
    """Whether the reply's own validators are taken."""
    return isinstance(request, FamilyRequest) and request.validators_by == "together"


def _value(result: T | Raised) -> T | str:
    """What was found, or in words why nothing was."""
    return result.reason if isinstance(result, Raised) else result
