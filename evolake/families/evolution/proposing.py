"""The evolution agent's turn in a cycle: parents are drawn, children proposed, taken through the gates,
corrected by what the gates say, or given up.

Operators take turns, so each has its share; a child that passed is known to the near-duplicate gate from then
on. Attempts of the operators' are made side by side and compared with each other in their order
(`in_turn`). A model is asked in waves: each request says its direction and what came of the waves
before. Which parents, which operator and which random numbers depend on the root seed, the cycle and the
number of the proposal alone. A reply that makes our code raise before the gates is a failure with its reason,
and the next one is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.attempts import waves
from evolake.agents.session_roles import require_model
from evolake.compute.remote_jail import RemotePool, Shared, jails_here
from evolake.errors import HostBusy, InputError
from evolake.families.evolution.author_session import SAW as SESSION_SAW
from evolake.families.evolution.author_session import SessionAuthor
from evolake.families.evolution.draft_feedback import draft_of, measure_draft
from evolake.families.evolution.refining import (
    Failure,
    Observation,
    Proposal,
    Proposals,
    SubmissionGuard,
    outcome_text,
    refine,
)
from evolake.families.evolution.requests import LINE, EvolutionSources, request_of
from evolake.families.evolution.validator_pool import OPERATORS as COMPOSED
from evolake.families.evolution.validator_pool import Written, authorship_rows, complete
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import REVIEWED_DIFFICULTY, FamilyGates, FamilyResults
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.family_files import UncheckedFamily, make_family
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.operators.common import named
from evolake.families.roles.evolution_agent import EVOLUTION_ROLE, EVOLUTION_SESSION, FamilyRequest
from evolake.families.roles.models import Draft, EvolveReply, EvolveRequest
from evolake.families.sandbox.running import PRELOAD, generate
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import INVENTED
from evolake.gates import Raised, contained
from evolake.gates.run import in_turn, side_by_side
from evolake.seeds import child_seed

OPERATOR = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")
"""What a reply may call its operator; anything else is `written`. It becomes part of names and of files."""
T = TypeVar("T")
Judge = Callable[[Family, Sequence[Fingerprint]], FamilyResults]
"""(family, fingerprints of all known ones) -> the family after its gates: `judging.FamilyGates`, for
example."""


def propose_families(
    agents: Agents,
    sources: EvolutionSources,
    *,
    pool: Any,
    judge: Judge,
    settings: FamiliesSettings,
    cycle: str,
    root_seed: int,
    count: int | None = None,
) -> Proposals:
    """Make `count` attempts (default: `settings.families_per_cycle`), each with up to `settings.refinements`
    refinements.

    Args:
        judge: the gates. If it is a `FamilyGates`, operators' attempts are made side by side, and a model's
            drafts are measured before the gates.

    Raises:
        InputError: the population is empty, or operators are to hold sessions. MachineryError: the jail
            failed, or the budget is spent.
    """
    if not sources.population:
        raise InputError(
            "no families to evolve from",
            wanted="a population of at least one family",
            do="materialize the seeds first",
        )
    check_evolution_agent(settings, agents.backend.name)
    gates = judge if isinstance(judge, FamilyGates) else None
    session = (
        SessionAuthor(agents, pool, settings, root_seed, gates, sources.known)
        if settings.evolution_agent == "session"
        else None
    )
    requests = [
        request_of(
            sources,
            number,
            cycle=cycle,
            root_seed=root_seed,
            settings=settings,
            for_model=agents.backend.name != "operators",
        )
        for number in range(settings.families_per_cycle if count is None else count)
    ]
    taken = {family.family_id for family in sources.population} | sources.fingerprints.keys()
    attempts = _Attempts(
        agents, judge, pool, settings, cycle, root_seed, requests, taken, list(sources.known), session
    )
    if isinstance(judge, FamilyGates) and agents.backend.name == "operators":
        made = in_turn(
            range(len(requests)), attempts.beside_each_other, still=attempts.still, record=attempts.record
        )
    else:
        made = attempts.in_waves(sources.waves)
    outcomes = [item.outcome for item in made]
    return Proposals(
        tuple(item for item in outcomes if isinstance(item, Proposal)),
        tuple(item for item in outcomes if not isinstance(item, Proposal)),
        tuple(row for item in made for row in item.authors),
        tuple(row for item in made for row in item.measured),
    )


def check_evolution_agent(settings: FamiliesSettings, backend: str) -> None:
    """Raise InputError where the setting `evolution_agent` cannot be followed."""
    require_model("an evolution agent", EVOLUTION_SESSION, settings.evolution_agent, backend)


def family_of(reply: EvolveReply | AgentFailure, request: EvolveRequest, *, whole: bool) -> Family | str:
    """Return the family that a reply holds, or why it holds none. whole: take the reply's `record`, which
    operators give, instead of its texts.

    A reply that names no parent has all that it was shown: each had its share. Where others write the
    validators, those in the reply are left out.
    """
    if isinstance(reply, AgentFailure):
        return f"{reply.status}: {reply.reason}"
    if not (reply.generator.strip() and reply.template.strip() and reply.validator.strip()):
        return reply.note or "an empty reply"
    if whole and reply.record is not None:
        return from_record(json.loads(reply.record))
    ids = [from_record(record).family_id for record in request.records]
    operator = reply.operator if OPERATOR.match(reply.operator) else "written"
    used = list(dict.fromkeys(ids[parent - 1] for parent in reply.used_parents if 0 < parent <= len(ids)))
    try:
        written = make_family(
            "the reply",
            UncheckedFamily(
                name="written",
                title=reply.title or "written",
                category=reply.category,
                language=reply.language,
                generator=reply.generator,
                template=reply.template,
                validator=reply.validator,
                reader=reply.reader,
                validators={validator.name: validator.source for validator in reply.validators}
                if _together(request)
                else {},
                answer={"type": reply.answer_type},
                parents=used or ids,
                operator=operator if used or ids else INVENTED,
                mutations={},
            ),
        )
    except InputError as error:
        return str(error)
    return named(written)


@dataclass(frozen=True)
class _Made:
    """What came of an attempt. taken: the ids that it took. authors: rows of VALIDATOR_AUTHORS. agents: who
    was asked. measured: rows of MEASURED."""

    outcome: Proposal | Failure
    taken: frozenset[str]
    authors: tuple[dict[str, Any], ...]
    agents: Agents
    measured: tuple[dict[str, Any], ...] = ()


@dataclass
class _Attempts:
    """The attempts of a cycle. taken: ids that are there, and seen: fingerprints to differ from, both of the
    population and of attempts before."""

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

    def in_waves(self, number_of_waves: int) -> list[_Made]:
        """Return each after those before it, so that no double is paid for a review. Requests of a wave know
        the waves before; a backend that may be asked several at the same time gives the replies of a wave
        beforehand."""
        made: list[_Made] = []
        # operators draw again when a child is there already, so each of their requests knows all before it
        count = len(self.requests) if self.agents.backend.name == "operators" else number_of_waves
        for wave in waves(len(self.requests), count):
            siblings = [outcome_text(item.outcome) for item in made]
            asked = [self._request(number, self.taken, siblings) for number in wave]
            ahead: list[Reply[EvolveReply | AgentFailure]] = []
            if self.agents.backend.threads > 1 and self.session is None:
                ahead = self.agents.call_many(
                    EVOLUTION_ROLE, asked, seeds=[self._seed(number) for number in wave], attempts=list(wave)
                )
            for place, number in enumerate(wave):
                made.append(
                    self._made(
                        number,
                        self.agents,
                        self.judge,
                        self.taken,
                        asked[place],
                        ahead[place] if ahead else None,
                    )
                )
                self._saw(made[-1].outcome)
        return made

    def beside_each_other(self, numbers: Sequence[int]) -> list[_Made]:
        """Run attempts by threads of this process, or whole by the workers of a cluster."""
        if isinstance(self.pool, RemotePool):
            common = (
                replace(self, agents=self.agents.apart(), judge=None, pool=None),
                replace(self.gates, pool=None, agents=None),
                self.pool.jail,
            )
            return self.pool.spread(_apart_there, common, numbers)
        return side_by_side(self.apart, numbers, self.pool.workers)

    def apart(self, number: int) -> _Made:
        """Return an attempt next to others, under what is taken and seen now. Called by threads."""
        agents = self.agents.apart()
        return self._made(
            number, agents, self.gates.by(agents), set(self.taken), self._request(number, self.taken)
        )

    def still(self, number: int, made: _Made) -> _Made | None:
        """Return the attempt next to all that are taken and seen by now; None where it would have gone
        another way. A child that operators passed over was there already, so only the ids that it took itself
        can meet others."""
        if made.taken & self.taken:
            return None
        if not isinstance(made.outcome, Proposal) or len(self.seen) == self._at_start:
            return made
        rounds = [self.gates.beside(item, self.seen) for item in made.outcome.rounds]
        if any(item is None for item in rounds):
            return None
        refinement = replace(
            made.outcome.refinement, rounds=tuple(item for item in rounds if item is not None)
        )
        return replace(made, outcome=replace(made.outcome, refinement=refinement))

    def record(self, number: int, made: _Made) -> None:
        """Set what the attempts after this one meet."""
        self.agents.take_in(made.agents)
        self.taken |= made.taken
        self._saw(made.outcome)

    def _saw(self, outcome: Proposal | Failure) -> None:
        if isinstance(outcome, Proposal):
            self.seen.extend(
                item.fingerprint for item in outcome.rounds if item.accepted and item.fingerprint is not None
            )

    def _made(
        self,
        number: int,
        agents: Agents,
        judge: Judge,
        taken: set[str],
        request: EvolveRequest,
        replied: Reply[EvolveReply | AgentFailure] | None = None,
    ) -> _Made:
        """One attempt with its refinements. taken: gets the ids of its versions."""
        before = frozenset(taken)
        attempt = _Attempt(
            agents,
            judge,
            request,
            number,
            self.cycle,
            self.root_seed,
            self.pool,
            self.settings,
            taken,
            tuple(self.seen),
            self.session,
        )
        try:
            outcome = attempt.outcome(replied)
        except HostBusy as error:
            outcome = attempt.failure(f"unknown: {error.what}; it may be proposed again")
            attempt.authors.clear()
        return _Made(
            outcome, frozenset(taken - before), tuple(attempt.authors), agents, tuple(attempt.measured)
        )

    def _request(self, number: int, taken: set[str], siblings: Sequence[str] = ()) -> EvolveRequest:
        request = self.requests[number]
        note = request.generation and request.generation.model_copy(
            update={"count": len(self.requests), "siblings": list(siblings)}
        )
        return request.model_copy(update={"taken": sorted(taken), "generation": note})

    def _seed(self, number: int) -> int:
        return child_seed(self.root_seed, LINE, self.cycle, "evolve", number)


def _apart_there(common: Shared, number: int) -> _Made:
    """Run in a worker: make one attempt by its jails."""
    attempts, gates, mode = common.value()
    pool = jails_here(PRELOAD, mode)
    return replace(attempts, pool=pool, judge=replace(gates, pool=pool, agents=attempts.agents)).apart(number)


@dataclass
class _Attempt:
    """One attempt: its draft, the measure of it, its gates and refinements. seen: fingerprints to differ
    from. authors: rows of VALIDATOR_AUTHORS. measured: rows of MEASURED. written: validators of the version
    at hand that others wrote. lost: why a correction brought no family. reply: the last one that holds a
    family.
    """

    agents: Agents
    judge: Judge
    request: EvolveRequest
    number: int
    cycle: str
    root_seed: int
    pool: Any
    settings: FamiliesSettings
    taken: set[str]
    seen: tuple[Fingerprint, ...]
    session: SessionAuthor | None
    authors: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    measured: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    written: list[Written] = field(default_factory=list[Written])
    lost: list[str] = field(default_factory=list[str])
    reply: EvolveReply | None = None

    @property
    def by_operators(self) -> bool:
        """Whether operators propose."""
        return self.agents.backend.name == "operators"

    @property
    def seed(self) -> int:
        """The seed of the first request."""
        return child_seed(self.root_seed, LINE, self.cycle, "evolve", self.number)

    def failure(self, reason: str) -> Failure:
        """Return the attempt as one that brought no family."""
        title, idea = (self.reply.title, self.reply.idea) if self.reply else ("", "")
        return Failure(self.number, self.request.operator, reason, title, idea)

    def outcome(self, replied: Reply[EvolveReply | AgentFailure] | None) -> Proposal | Failure:
        """Make the attempt. replied: to its first request, if that was asked beforehand."""
        if self.session is not None:
            replied = self.session.write(self.request, seed=self.seed, attempt=self.number)
        elif replied is None:
            replied = self.agents.call(EVOLUTION_ROLE, self.request, seed=self.seed, attempt=self.number)
        self.reply = replied.value if isinstance(replied.value, EvolveReply) else None
        family = _value(contained(family_of, replied.value, self.request, whole=self.by_operators))
        if isinstance(family, Family):
            family = self._after_measuring(family)
        whole = family if isinstance(family, str) else _value(contained(self.completed, family))
        if isinstance(whole, str) or isinstance(family, str):
            return self.failure(str(whole))
        if whole is None:
            return self.failure(f"family {family.family_id[:12]} is there already")
        self.agents.assign(replied.call_id, whole.family_id)
        guard = SubmissionGuard()
        done = refine(whole, self._judged, self.revised, rounds=self.settings.refinements, guard=guard)
        return Proposal(
            self.number, self.request.operator, done, self.reply.idea if self.reply else "", tuple(self.lost)
        )

    def _judged(self, family: Family) -> FamilyResults:
        """Return the family after its gates. A model that reviews is shown an instance of the first parent:
        it is to say what is new."""
        if self.by_operators or not isinstance(self.judge, FamilyGates):
            return self.judge(family, self.seen)
        return self.judge(family, self.seen, self._parent_statement(family))

    def _parent_statement(self, family: Family) -> str:
        """One instance of the family's first parent; "" without one."""
        parents = {parent.family_id: parent for parent in map(from_record, self.request.records)}
        parent = next((parents[name] for name in family.parents if name in parents), None)
        if parent is None:
            return ""
        [instance] = generate(
            parent, pairs_of([REVIEWED_DIFFICULTY], 1, "sample"), pool=self.pool, caps=caps_of(self.settings)
        )
        return instance.text

    def _after_measuring(self, family: Family) -> Family:
        """Return the draft, or what its author made of it after a look at what the jail says. A correction
        that is no family leaves the draft as it was.
        """
        if self.by_operators or self.session is not None or not isinstance(self.judge, FamilyGates):
            return family
        for number in range(self.settings.measured_drafts):
            measurement = measure_draft(family, self.judge, self.seen)
            row = {
                "number": self.number,
                "round": number,
                "cycle": self.cycle,
                "title": family.title,
                "faults": list(measurement.faults),
                "outcome": "no fault",
                **measurement.costs,
            }
            self.measured.append(row)
            if not measurement.faults:
                break
            draft = Draft(
                generator=family.generator,
                template=stated(family),
                validator=family.validator,
                reader=family.reader,
                kind="not judged yet",
                gate="measured before the gates",
                reason=measurement.faults[0],
                faults=list(measurement.faults[1:]),
                measured=True,
            )
            request = self.request.model_copy(
                update={"draft": draft, "draft_record": to_record(family), "taken": sorted(self.taken)}
            )
            replied = self.agents.call(
                EVOLUTION_ROLE,
                request,
                seed=child_seed(self.seed, LINE, self.cycle, "measure", number),
                attempt=self.number,
            )
            corrected = _value(contained(family_of, replied.value, self.request, whole=False))
            row["outcome"] = "corrected" if isinstance(corrected, Family) else "kept"
            if isinstance(corrected, str):
                break
            self.reply = replied.value if isinstance(replied.value, EvolveReply) else self.reply
            family = corrected
        return family

    def completed(self, family: Family) -> Family | None:
        """With the validators that it lacks, as far as the backend writes any. None if exactly this family is
        there already."""
        seed = child_seed(self.root_seed, LINE, self.cycle, "complete", self.number)
        whole = complete(
            family,
            pool=self.pool,
            agents=self.agents,
            settings=self.settings,
            root_seed=seed,
            note=self.written.append,
        )
        if whole.family_id in self.taken:
            return None
        self.taken.add(whole.family_id)
        author, saw = self._author()
        self.authors.extend(authorship_rows(whole, self.written, author=author, saw=saw, cycle=self.cycle))
        return whole

    def _author(self) -> tuple[str, tuple[str, ...]]:
        """Return who writes what no other does, and what it sees."""
        if self.agents.backend.name == "operators":
            return COMPOSED, ("parents",)
        return (EVOLUTION_SESSION.name, SESSION_SAW) if self.session else (EVOLUTION_ROLE.name, ("parents",))

    def revised(self, examined: FamilyResults, observation: Observation, round_number: int) -> Family | None:
        """As `revise`; None as well if the reply makes our code raise."""
        result = contained(self.revise, examined, observation, round_number)
        if isinstance(result, Raised):
            self.lost.append(result.reason)
            return None
        return result

    def revise(self, examined: FamilyResults, observation: Observation, round_number: int) -> Family | None:
        """Ask for a corrected version; None if none came."""
        family = examined.family
        if self.by_operators:
            draft = Draft(
                generator=family.generator,
                template=stated(family),
                validator=family.validator,
                reader=family.reader,
                validators=dict(family.validators),
                kind=observation.kind,
                gate=observation.gate,
                reason=observation.reason,
                rule_id=observation.rule_id,
                traces=list(observation.traces),
            )
        else:
            ruleset = self.judge.ruleset if isinstance(self.judge, FamilyGates) else None
            draft = draft_of(
                examined,
                observation,
                ruleset=ruleset,
                pool=self.pool,
                settings=self.settings,
                validators=_together(self.request),
            )
        request = self.request.model_copy(
            update={"draft": draft, "draft_record": to_record(family), "taken": sorted(self.taken)}
        )
        seed = child_seed(self.root_seed, LINE, f"{self.cycle}/{self.number}", "mend", round_number)
        if self.session is not None:
            reply = self.session.write(
                request, seed=seed, attempt=self.number, artifact_id=family.family_id
            ).value
        else:
            reply = self.agents.call(EVOLUTION_ROLE, request, seed=seed, artifact_id=family.family_id).value
        result = family_of(reply, self.request, whole=self.by_operators)
        if isinstance(result, str):
            self.lost.append(result)
            return None
        corrected = replace(result, parents=result.parents or family.parents)
        return self.completed(
            corrected if self.by_operators else self._with_its_validators(corrected, family)
        )

    def _with_its_validators(self, corrected: Family, before: Family) -> Family:
        """Return the corrected version with the validators of the one before, if what their authors saw is
        the same: they need not be asked again."""
        if _together(self.request) or (corrected.generator, stated(corrected)) != (
            before.generator,
            stated(before),
        ):
            self.written.clear()
            return corrected
        return replace(corrected, validators=before.validators)


def _together(request: EvolveRequest) -> bool:
    """Return whether the reply's own validators are taken."""
    return isinstance(request, FamilyRequest) and request.validators_by == "together"


def _value(result: T | Raised) -> T | str:
    """Return what was found, or in words why nothing was."""
    return result.reason if isinstance(result, Raised) else result
