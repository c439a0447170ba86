"""The designer's turn in a cycle: requests by direction, replies taken in and judged. Those of the operators side by side, held against each other in
their order (`gates.in_turn`); those of a model one after another, so that nobody pays for a double to be mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.cycle_seeds import CycleSeeds
from evolake.designs.evolution.designer_session import SessionDesigner
from evolake.designs.evolution.planning import detail, schedule_text
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import Judge, Judged, candidate_of, derivation_rows, design_row, judged_and_mended
from evolake.designs.genome.grammars import GRAMMARS, adopted, parent_of
from evolake.designs.model.boundary import alone
from evolake.designs.roles.designer import DESIGN_ROLE
from evolake.designs.roles.models import SHORT_ID, DesignReply, DesignRequest, ParentMaterial
from evolake.designs.settings import DesignsSettings
from evolake.designs.templates import template
from evolake.errors import InputError
from evolake.gates.in_turn import in_turn, side_by_side


@dataclass(frozen=True)
class Proposals:
    """Candidates of a cycle in the order they were asked for, the calls that gave none, and how many were blocked before, word for word."""

    candidates: list[Judged]
    failures: list[AgentFailure]
    repeats: int = 0


@dataclass(frozen=True)
class DesignerTurn:
    """What all requests of a cycle share.

    judge: the gates. origin: the backend's name, kept with every design. session: who writes designs in sessions; None: each is one reply.
    workers: how many requests of the operators are served at one time.
    """

    agents: Agents
    judge: Judge
    settings: DesignsSettings
    seeds: CycleSeeds
    origin: str
    session: SessionDesigner | None = None
    workers: int = 1


def propose_candidates(
    turn: DesignerTurn, population: Population, directions: Sequence[Mapping[str, Any]], texts: Texts, objectives: Sequence[str] = (),
) -> Proposals:
    """`settings.designs_per_cycle` candidates, the directions taken in turn; none without directions.

    Args:
        directions: rows of DIRECTIONS. texts: reads a blob as text by its sha. objectives: what the objectives measure, heaviest first.
    """
    if not directions:
        return Proposals([], [])
    chosen = [directions[number % len(directions)] for number in range(turn.settings.designs_per_cycle)]
    requests = [_request(population, direction, texts, turn.settings, objectives) for direction in chosen]
    draws = [number // len(directions) for number in range(len(chosen))]  # a direction's second design is a second draw
    seen, known, ids = set(population.keys()), dict(population.graphs()), set(population.designs["design_id"].to_list())
    attempts = _Attempts(turn, population, chosen, requests, draws, seen, known, ids)
    if turn.agents.backend.name == "operators":
        in_turn(range(len(requests)), partial(side_by_side, attempts.apart, workers=turn.workers), still=attempts.still, settle=attempts.settle)
    else:
        attempts.one_by_one()
    return Proposals(attempts.candidates, attempts.failures, attempts.repeats)


class _Known(dict[str, str]):
    """Designs by graph, and which graphs were asked for that nobody has."""

    def __init__(self, known: Mapping[str, str]):
        super().__init__(known)
        self.new: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self.new.add(key)
        return super().get(key, default)


@dataclass(frozen=True)
class _Made:
    """What came of a request. drawn: the key of the design as the designer gave it, "" where there is one already. new: graphs of its versions that
    nobody had. agents: who was asked."""

    outcome: Judged | AgentFailure
    drawn: str
    new: frozenset[str]
    agents: Agents


@dataclass
class _Attempts:
    """The requests of a cycle. seen: keys, known: graph -> id, ids: of all designs there are, and of those that requests before gave."""

    turn: DesignerTurn
    population: Population
    chosen: Sequence[Mapping[str, Any]]
    requests: Sequence[DesignRequest]
    draws: Sequence[int]
    seen: set[str]
    known: dict[str, str]
    ids: set[str]
    candidates: list[Judged] = field(default_factory=list)
    failures: list[AgentFailure] = field(default_factory=list)
    repeats: int = 0

    def one_by_one(self) -> None:
        """Each after those before it; a backend that may be asked several at once gives the replies beforehand."""
        numbers = range(len(self.requests))
        for batch in [numbers] if self.turn.agents.backend.threads > 1 and self.turn.session is None else [[number] for number in numbers]:
            for number, reply in zip(batch, self._replies(batch, self.turn.agents), strict=True):
                self.settle(number, self._made(number, reply, self.turn.agents))

    def apart(self, number: int) -> _Made:
        """One request beside others, under what is known now. Called by threads."""
        agents = self.turn.agents.apart()
        return self._made(number, self._replies([number], agents)[0], agents)

    def still(self, number: int, made: _Made) -> _Made | None:
        """The same, unless by now its design was given by another request, or a version of it computes what another one does. Operators pass over
        what is there, so only what they gave themselves can meet others."""
        return None if made.drawn in self.seen or made.new & self.known.keys() else made

    def settle(self, number: int, made: _Made) -> None:
        """What the requests after this one meet."""
        if made.agents is not self.turn.agents:
            self.turn.agents.take_in(made.agents)
        result = made.outcome
        if isinstance(result, AgentFailure):
            self.failures.append(result)
        elif result.design_id in self.ids:
            self.repeats += 1
        else:
            self.ids.add(result.design_id)
            self.candidates.append(result)
            self.seen.add(result.key())
            if result.traced is not None and result.accepted:
                self.known[result.traced.graph_sha] = result.design_id

    def _replies(self, numbers: Sequence[int], agents: Agents) -> list[Reply[DesignReply | AgentFailure]]:
        """Return the reply to each request."""
        requests = [self.requests[number].model_copy(update={"taken": sorted(self.seen)}) for number in numbers]
        seeds = [self.turn.seeds.seed("design", number) for number in numbers]
        draws = [self.draws[number] for number in numbers]
        if self.turn.session is not None:
            return [self.turn.session.write(request, seed=seed, attempt=draw) for request, seed, draw in zip(requests, seeds, draws, strict=True)]
        return agents.call_many(DESIGN_ROLE, requests, seeds=seeds, attempts=draws)

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

    def _taken_in(self, number: int, reply: DesignReply, agents: Agents, known: Mapping[str, str], drawn: list[str]) -> Judged | AgentFailure:
        """The judged candidate of a reply. What a reply raises that its gates did not see is a call without a usable reply: the others go on.
        drawn: gets the key of the design as it was given."""

        def take() -> Judged:
            candidate = candidate_of(reply, self.population, self.chosen[number], self.turn.origin)
            drawn.append(candidate.key())
            result = judged_and_mended(agents, candidate, known, self.turn.judge, self.turn.seeds.seed("repair", number))
            design_row(result, "", "", None)
            derivation_rows(result, "")
            return result

        return alone(take, lambda reason: AgentFailure(DESIGN_ROLE.name, "invalid", reason, 1), passing=(InputError,))


def _request(
    population: Population, direction: Mapping[str, Any], texts: Texts, settings: DesignsSettings, objectives: Sequence[str]
) -> DesignRequest:
    references = [design_id for design_id in direction["reference_ids"] if design_id in set(population.live_ids())]
    grammar = GRAMMARS[settings.grammar]
    parents = [adopted(population.parent(design_id, texts), grammar.name) for design_id in references]
    parents = parents or [parent_of("", "baseline", grammar.baseline())]
    return DesignRequest(
        phase=direction["phase"], direction=direction["direction"], rationale=direction["rationale"], focus=direction["focus"],
        avoid=direction["avoid"], key_insights=list(direction["key_insights"]),
        baseline_source=template("baseline"),
        references=[detail(population, design_id, texts) for design_id in references], objectives=list(objectives),
        schedule=schedule_text(settings),
        parents=[
            ParentMaterial(
                design_id=parent.design_id[:SHORT_ID], title=parent.title, genome=parent.genome.to_json() if parent.genome else None,
                source=parent.source, values=dict(parent.values),
                scales=[{"name": s.name, "type": s.type, "low": s.low, "high": s.high, "choices": list(s.choices)} for s in parent.scales],
            )
            for parent in parents
        ],
    )
