"""The designer's turn in a cycle: requests by direction, replies taken in and judged. Those of the operators
side by side, held against each other in their order (`in_turn`); those of a model in waves, each of
which is sent what the ones before it proposed and what came of it, and judged one after another. A design
that a model wrote in one reply is compared with its parent and may be revised once before it is judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.attempts import MOST_SIBLINGS, SiblingNote, waves
from evolake.designs.evolution.attempts import contest_outcomes, idea_of
from evolake.designs.evolution.planning import TRIED_BY_DESIGNER, detail, limits_text, tried_text
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import (
    Candidate,
    Judge,
    Judged,
    candidate_of,
    derivation_rows,
    design_row,
    judged_and_repaired,
)
from evolake.designs.evolution.trials import (
    REVISION_SIZES,
    SessionDesigner,
    TrialRunner,
    mean_gain,
    trial_text,
    worth_revising,
)
from evolake.designs.genome.open_genetic import parent_of
from evolake.designs.genome.open_genome import baseline
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import TracedDesign
from evolake.designs.roles.designer import DESIGN_ROLE, REVISION_ROLE
from evolake.designs.roles.models import SHORT_ID, DesignReply, DesignRequest, ParentMaterial, RevisionRequest
from evolake.designs.settings import DesignsSettings
from evolake.designs.templates import template
from evolake.errors import InputError
from evolake.gates.run import in_turn, side_by_side
from evolake.seeds import CycleSeeds

SIBLING_CHARS, SIBLING_IDEA = 900, 120
"""Characters that a request is sent of one sibling, and of what one was asked for that came to nothing."""


@dataclass(frozen=True)
class Proposals:
    """Candidates of a cycle in the order they were asked for, the calls that gave none, and how many were
    blocked before, word for word.

    trials: rows of TRIALS. failed_proposals: rows of `FAILED_PROPOSALS` but their cycle.
    """

    candidates: list[Judged]
    failures: list[AgentFailure]
    repeats: int = 0
    trials: list[dict[str, Any]] = field(default_factory=list)
    failed_proposals: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class DesignerTurn:
    """What all requests of a cycle share.

    judge: the gates. origin: the backend's name, kept with every design. session: who writes designs in
    sessions; None: each is one reply. workers: how many requests of the operators are served at one time.
    trials: tries a design before its one revision; None: no revision. waves: in how many a model is asked.
    """

    agents: Agents
    judge: Judge
    settings: DesignsSettings
    seeds: CycleSeeds
    origin: str
    session: SessionDesigner | None = None
    workers: int = 1
    trials: TrialRunner | None = None
    waves: int = 2


def propose_candidates(
    turn: DesignerTurn,
    population: Population,
    directions: Sequence[Mapping[str, Any]],
    texts: Texts,
    objectives: Sequence[str] = (),
) -> Proposals:
    """Return `settings.designs_per_cycle` candidates, the directions taken in turn; none without directions.

    Args:
        directions: rows of DIRECTIONS. texts: reads a blob as text by its sha. objectives: what the
            objectives measure, heaviest first.
    """
    if not directions:
        return Proposals([], [])
    chosen = [directions[number % len(directions)] for number in range(turn.settings.designs_per_cycle)]
    outcomes = contest_outcomes(population)
    requests = [_request(population, direction, texts, turn, objectives, outcomes) for direction in chosen]
    draws = [
        number // len(directions) for number in range(len(chosen))
    ]  # a direction's second design is a second draw
    seen, known, ids = (
        set(population.keys()),
        dict(population.graphs()),
        set(population.designs["design_id"].to_list()),
    )
    attempts = _Attempts(turn, population, chosen, requests, draws, seen, known, ids, texts)
    if turn.agents.backend.name == "operators":
        in_turn(
            range(len(requests)),
            partial(side_by_side, attempts.apart, workers=turn.workers),
            still=attempts.still,
            record=attempts.record,
        )
    else:
        attempts.one_by_one()
    return Proposals(
        attempts.candidates,
        attempts.failures,
        attempts.repeats,
        attempts.trial_rows(),
        attempts.failed_proposals,
    )


class _Known(dict[str, str]):
    """Designs by graph, and which graphs were asked for that no design has."""

    def __init__(self, known: Mapping[str, str]):
        super().__init__(known)
        self.new: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self.new.add(key)
        return super().get(key, default)


@dataclass(frozen=True)
class _Made:
    """What came of a request. drawn: the key of the design as the designer gave it, "" if there is one
    already. new: graphs of its versions that no design had. agents: who was asked."""

    outcome: Judged | AgentFailure
    drawn: str
    new: frozenset[str]
    agents: Agents


@dataclass
class _Attempts:
    """The requests of a cycle. seen: keys, known: graph -> id, ids: of all designs there are, and of those
    that requests before gave."""

    turn: DesignerTurn
    population: Population
    chosen: Sequence[Mapping[str, Any]]
    requests: Sequence[DesignRequest]
    draws: Sequence[int]
    seen: set[str]
    known: dict[str, str]
    ids: set[str]
    texts: Texts
    trials: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    revisions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    failed_proposals: list[dict[str, Any]] = field(default_factory=list)
    siblings: list[str] = field(default_factory=list)
    candidates: list[Judged] = field(default_factory=list)
    failures: list[AgentFailure] = field(default_factory=list)
    repeats: int = 0

    def trial_rows(self) -> list[dict[str, Any]]:
        """Return the rows of all trials, in the order of the requests."""
        return [
            row
            for number in sorted(self.trials)
            for row in (*self.trials[number], *self.revisions.get(number, []))
        ]

    def one_by_one(self) -> None:
        """Each after those before it; a backend that may be asked several at the same time gives the replies
        of a wave beforehand."""
        numbers = range(len(self.requests))
        together = self.turn.agents.backend.threads > 1 and self.turn.session is None
        for batch in waves(len(numbers), self.turn.waves) if together else [[number] for number in numbers]:
            for number, reply in zip(batch, self._replies(batch, self.turn.agents), strict=True):
                self.record(number, self._made(number, reply, self.turn.agents))

    def apart(self, number: int) -> _Made:
        """One request next to others, under what is known now. Called by threads."""
        agents = self.turn.agents.apart()
        return self._made(number, self._replies([number], agents)[0], agents)

    def still(self, number: int, made: _Made) -> _Made | None:
        """Return the same, unless by now its design was given by another request, or a version of it computes
        what another one does. Operators pass over what is there, so only what they gave themselves can meet
        others."""
        return None if made.drawn in self.seen or made.new & self.known.keys() else made

    def record(self, number: int, made: _Made) -> None:
        """Set what the requests after this one meet."""
        if made.agents is not self.turn.agents:
            self.turn.agents.take_in(made.agents)
        result = made.outcome
        if isinstance(result, AgentFailure):
            self.failures.append(result)
            idea = self.chosen[number]["direction"]
            self.failed_proposals.append(
                {
                    "number": len(self.failed_proposals),
                    "role": result.role,
                    "reason": result.reason,
                    "idea": idea,
                }
            )
            self.siblings.append(
                f"{result.status}: {result.reason} (asked for: {idea[:SIBLING_IDEA]})"[:SIBLING_CHARS]
            )
        elif result.design_id in self.ids:
            self.repeats += 1
            self.siblings.append(f"{result.title}: a repetition of a design that is there"[:SIBLING_CHARS])
        else:
            self.siblings.append(self._sibling_text(number, result))
            self.ids.add(result.design_id)
            self.candidates.append(result)
            self.seen.add(result.key())
            if result.traced is not None and result.accepted:
                self.known[result.traced.graph_sha] = result.design_id

    def _replies(self, numbers: Sequence[int], agents: Agents) -> list[Reply[DesignReply | AgentFailure]]:
        """Return the reply to each request."""
        requests = [self.requests[number].model_copy(update=self._state(number)) for number in numbers]
        seeds = [self.turn.seeds.seed("design", number) for number in numbers]
        draws = [self.draws[number] for number in numbers]
        if self.turn.session is not None:
            keepers = [partial(self._keep_trials, number) for number in numbers]
            asked = zip(requests, seeds, draws, keepers, strict=True)
            return [
                self.turn.session.write(request, seed=seed, attempt=draw, keep=keep)
                for request, seed, draw, keep in asked
            ]
        return agents.call_many(DESIGN_ROLE, requests, seeds=seeds, attempts=draws)

    def _keep_trials(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the runs of a session's trial: they count as those of a one-shot design do."""
        self.trials.setdefault(number, []).extend(
            {**row, "cycle": self.turn.seeds.cycle, "number": number + 1} for row in rows
        )

    def _state(self, number: int) -> dict[str, Any]:
        """Return what a request says of the others: to operators the keys of known designs, to a model its
        siblings."""
        if self.turn.agents.backend.name == "operators":
            return {"taken": sorted(self.seen)}
        note = SiblingNote(
            number=number + 1, count=len(self.requests), siblings=self.siblings[-MOST_SIBLINGS:]
        )
        return {"taken": sorted(self.seen), "sibling": note}

    def _sibling_text(self, number: int, result: Judged) -> str:
        """Return what the requests after this one are sent of it."""
        came = "accepted" if result.accepted else f"blocked: {result.examined.reason}"
        rows = [
            row
            for tried in (self.trials, self.revisions)
            for row in tried.get(number, [])
            if row["design_id"] == result.design_id
        ]
        largest = [line.partition(". Yours")[0] for line in trial_text(rows).splitlines()][-1:]
        return f"{idea_of(result.rationale) or result.title} ({'; '.join([came, *largest])})"[:SIBLING_CHARS]

    def _made(self, number: int, replied: Reply[DesignReply | AgentFailure], agents: Agents) -> _Made:
        reply = replied.value
        known, drawn = _Known(self.known), []
        if isinstance(reply, AgentFailure):
            return _Made(reply, "", frozenset(), agents)
        result = self._taken_in(number, reply, agents, known, drawn)
        if isinstance(result, Judged):
            agents.assign(replied.call_id, result.design_id)
        key = drawn[0] if drawn and drawn[0] not in self.seen else ""
        return _Made(result, key, frozenset(known.new), agents)

    def _taken_in(
        self, number: int, reply: DesignReply, agents: Agents, known: Mapping[str, str], drawn: list[str]
    ) -> Judged | AgentFailure:
        """Return the judged candidate of a reply. What a reply raises that its gates did not see is a call
        without a usable reply: the others continue. drawn: gets the key of the design as it was given."""

        def take() -> Judged:
            candidate = candidate_of(reply, self.population, self.chosen[number], self.turn.origin)
            drawn.append(candidate.key())
            result = judged_and_repaired(
                agents, candidate, known, self.turn.judge, self.turn.seeds.seed("repair", number)
            )
            if self.turn.trials is not None and self.turn.session is None and result.accepted:
                result = self._revised(number, result, agents, known)
            design_row(result, "", "", None)
            derivation_rows(result, "")
            return result

        return alone(
            take, lambda reason: AgentFailure(DESIGN_ROLE.name, "invalid", reason, 1), passing=(InputError,)
        )

    def _revised(self, number: int, made: Judged, agents: Agents, known: Mapping[str, str]) -> Judged:
        """Return the design after its trial and revision.

        As it was if the trial leaves nothing to revise (`worth_revising`), or if the revision keeps it, is
        blocked, is none, or needs more work in a trial on the same instances.
        """
        trials, start = self.turn.trials, self._start(made)
        if trials is None or start is None or made.traced is None:
            return made
        rows = trials.run(made.traced, start, REVISION_SIZES)
        self.trials[number] = [self._trial_row(number, made, row) for row in rows]
        if not worth_revising(rows):
            return made
        request = RevisionRequest(request=number + 1, source=made.source, trial=trial_text(rows))
        revised = agents.call(
            REVISION_ROLE, request, seed=self.turn.seeds.seed("revision", number), artifact_id=made.design_id
        )
        reply = revised.value
        if isinstance(reply, AgentFailure) or reply.solver_code is None or reply.solver_code == made.source:
            return made
        rationale = f"{reply.explanation} Revised after a trial of: {made.rationale}"[:6000]
        candidate = Candidate(**{item.name: getattr(made, item.name) for item in fields(Candidate)})
        candidate = replace(candidate, source=reply.solver_code, hyper={}, genome=None, rationale=rationale)
        result = judged_and_repaired(
            agents, candidate, known, self.turn.judge, self.turn.seeds.seed("revision repair", number)
        )
        if not result.accepted or result.traced is None:
            return made
        agents.assign(revised.call_id, result.design_id)
        again = trials.run(result.traced, start, REVISION_SIZES)
        self.revisions[number] = [self._trial_row(number, result, row) for row in again]
        return made if mean_gain(again) < mean_gain(rows) else result

    def _trial_row(self, number: int, made: Judged, row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, "cycle": self.turn.seeds.cycle, "number": number + 1, "design_id": made.design_id}

    def _start(self, made: Judged) -> TracedDesign | None:
        """Return the design that it starts from: the heaviest of its parents."""
        if not made.weights:
            return None
        parent = self.population.row(max(made.weights, key=lambda item: item[1])[0])
        return (
            TracedDesign.from_json(json.loads(self.texts(parent["traced_sha"])))
            if parent["traced_sha"]
            else None
        )


def _request(
    population: Population,
    direction: Mapping[str, Any],
    texts: Texts,
    turn: DesignerTurn,
    objectives: Sequence[str],
    outcomes: Sequence[str],
) -> DesignRequest:
    settings = turn.settings
    references = [
        design_id for design_id in direction["reference_ids"] if design_id in set(population.live_ids())
    ]
    parents = [population.parent(design_id, texts) for design_id in references]
    parents = parents or [parent_of("", "baseline", baseline())]
    return DesignRequest(
        phase=direction["phase"],
        direction=direction["direction"],
        rationale=direction["rationale"],
        focus=direction["focus"],
        avoid=direction["avoid"],
        key_insights=list(direction["key_insights"]),
        baseline_source=template("baseline"),
        references=[detail(population, design_id, texts, settings) for design_id in references],
        objectives=list(objectives),
        schedule=limits_text(settings),
        outcomes=list(outcomes),
        tried=tried_text(
            turn.agents, population, f"{direction['direction']} {direction['focus']}", TRIED_BY_DESIGNER
        ),
        parents=[
            ParentMaterial(
                design_id=parent.design_id[:SHORT_ID],
                title=parent.title,
                genome=parent.genome.to_json() if parent.genome else None,
                source=parent.source,
                values=dict(parent.values),
                scales=[
                    {"name": s.name, "type": s.type, "low": s.low, "high": s.high, "choices": list(s.choices)}
                    for s in parent.scales
                ],
            )
            for parent in parents
        ],
    )
