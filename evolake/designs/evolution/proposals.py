"""The designer's turn in a cycle: from directions to candidates that are traced, repaired once, and told apart from what is known.

A candidate that cannot be used is a value: its verdicts say which gate stopped it and why. The gates are passed in (`judging.run_gates` with its
rules bound), so every candidate meets the same ones, seeds and tuned copies too. The genome that comes with a reply is believed only if
composing it gives that very file. A reply that cannot even be taken in is a failed call; no reply stops the line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.designs.evolution.designer_session import SessionDesigner
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.judging import DesignResults
from evolake.designs.evolution.planning import detail, resolved, schedule_text, short_ids
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.genome.compose import compose
from evolake.designs.genome.genetic import design_key, parent_of_genome
from evolake.designs.genome.grammar import BASELINE, Genome, from_json
from evolake.designs.genome.values import values_text
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import HyperValue, TracedDesign
from evolake.designs.roles.designer import DESIGN_REPAIR_ROLE, DESIGN_ROLE
from evolake.designs.roles.models import SHORT_ID, DesignReply, DesignRequest, ParentMaterial, RepairRequest
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.seeds import child_seed

REPAIRS = 1
REPAIRABLE = ("contract", "trace", "dynamics")
Judge = Callable[[str, Mapping[str, HyperValue], Mapping[str, str]], DesignResults]
"""(source, hyper, {graph_sha: design id of every known design}) -> the design after its gates."""


@dataclass(frozen=True)
class Candidate:
    """A proposed design that has not met its gates."""

    source: str
    hyper: Mapping[str, HyperValue]
    genome: Genome | None
    title: str
    operator: str
    origin: str
    rationale: str
    direction_id: str | None
    weights: tuple[tuple[str, float], ...]

    def key(self) -> str:
        """`operators_genetic.design_key` of this design."""
        return design_key(self.genome, self.source, self.hyper)


@dataclass(frozen=True)
class Judged(Candidate):
    """A candidate with what its gates said."""

    examined: DesignResults

    @property
    def design_id(self) -> str:
        """The final id, by what it computes; by its text when it was blocked."""
        return self.examined.design_id

    @property
    def traced(self) -> TracedDesign | None:
        """The design as a graph, where it could be traced."""
        return self.examined.traced

    @property
    def accepted(self) -> bool:
        """Whether every gate let it pass."""
        return self.examined.accepted


@dataclass(frozen=True)
class Proposals:
    """Candidates of a cycle in the order they were asked for, the calls that gave none, and how many were blocked before, word for word."""

    candidates: list[Judged]
    failures: list[AgentFailure]
    repeats: int = 0


def propose_candidates(
    agents: Agents, population: Population, directions: Sequence[Mapping[str, Any]], texts: Texts, judge: Judge, *,
    settings: DesignsSettings, cycle: str, root_seed: int, origin: str, objectives: Sequence[str] = (), session: SessionDesigner | None = None,
) -> Proposals:
    """`settings.designs_per_cycle` candidates, the directions taken in turn; none without directions.

    Args:
        directions: rows of DIRECTIONS. texts: reads a blob as text by its sha. judge: the gates.
        origin: the backend's name, kept with every design. objectives: what the objectives measure, heaviest first.
        session: who writes designs in sessions; None: each is one reply.
    """
    if not directions:
        return Proposals([], [])
    requests, chosen = [], []
    for number in range(settings.designs_per_cycle):
        direction = directions[number % len(directions)]
        requests.append(_request(population, direction, texts, settings, objectives))
        chosen.append(direction)
    candidates: list[Judged] = []
    failures: list[AgentFailure] = []
    seen, known = set(population.keys()), dict(population.graphs())
    ids, repeats = set(population.designs["design_id"].to_list()), 0
    batches = [requests] if agents.backend.threads > 1 and session is None else [[request] for request in requests]
    asked = 0
    for batch in batches:
        fresh = [request.model_copy(update={"taken": sorted(seen)}) for request in batch]
        seeds = [child_seed(root_seed, LINE, cycle, "design", asked + number) for number in range(len(fresh))]
        draws = [(asked + number) // len(directions) for number in range(len(fresh))]  # a direction's second design is a second draw
        if session is None:
            replies = [(reply, reply) for reply in agents.call_many(DESIGN_ROLE, fresh, seeds=seeds, attempts=draws)]
        else:
            replies = [session.write(one, seed=seed, attempt=draw) for one, seed, draw in zip(fresh, seeds, draws, strict=True)]
        for number, (reply, given) in enumerate(replies, start=asked):
            if isinstance(reply, AgentFailure):
                failures.append(reply)
                continue
            seed = child_seed(root_seed, LINE, cycle, "repair", number)
            candidate = _taken_in(agents, reply, population, chosen[number], origin, known, judge, seed)
            if isinstance(candidate, AgentFailure):
                failures.append(candidate)
                continue
            agents.assign(given, candidate.design_id)
            if candidate.design_id in ids:
                repeats += 1
                continue
            ids.add(candidate.design_id)
            candidates.append(candidate)
            seen.add(candidate.key())
            if candidate.traced is not None and candidate.accepted:
                known[candidate.traced.graph_sha] = candidate.design_id
        asked += len(batch)
    return Proposals(candidates, failures, repeats)


def judged(candidate: Candidate, known: Mapping[str, str], judge: Judge) -> Judged:
    """The candidate after its gates. `known`: graph_sha -> design id."""
    proposed = {field.name: getattr(candidate, field.name) for field in fields(Candidate)}
    return Judged(**proposed, examined=judge(candidate.source, candidate.hyper, known))


def _request(
    population: Population, direction: Mapping[str, Any], texts: Texts, settings: DesignsSettings, objectives: Sequence[str]
) -> DesignRequest:
    references = [design_id for design_id in direction["reference_ids"] if design_id in set(population.live_ids())]
    parents = [population.parent(design_id, texts) for design_id in references] or [parent_of_genome("", "baseline", BASELINE)]
    return DesignRequest(
        phase=direction["phase"], direction=direction["direction"], rationale=direction["rationale"], focus=direction["focus"],
        avoid=direction["avoid"], key_insights=list(direction["key_insights"]), baseline_source=compose(BASELINE, "Baseline dynamics"),
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


def _taken_in(
    agents: Agents, reply: DesignReply, population: Population, direction: Mapping[str, Any], origin: str, known: Mapping[str, str], judge: Judge,
    seed: int,
) -> Judged | AgentFailure:
    """The judged candidate of a reply. What a reply raises that its gates did not see is a call without a usable reply: the others go on."""

    def take() -> Judged:
        found = _judged(agents, _candidate(reply, population, direction, origin), known, judge, seed)
        design_row(found, "", "", None)
        derivation_rows(found, "")
        return found

    return alone(take, lambda reason: AgentFailure(DESIGN_ROLE.name, "invalid", reason, 1), passing=(InputError,))


def _candidate(reply: DesignReply, population: Population, direction: Mapping[str, Any], origin: str) -> Candidate:
    known = short_ids(population)
    weights = shares({item.design_id: item.weight for item in reply.reference_weights}, known, list(direction["reference_ids"]))
    genome = believed_genome(reply.genome, reply.solver_code)
    return Candidate(
        source=reply.solver_code, hyper=dict(reply.hyper), genome=genome, title=reply.short_name,
        operator=reply.operator or "written", origin=origin, rationale=reply.explanation, direction_id=direction["direction_id"],
        weights=weights,
    )


def shares(stated: Mapping[str, float], known: Mapping[str, str], references: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Stated weights by whole id, over designs that exist, summing to 1; equal shares of the references where nothing usable was stated."""
    named: dict[str, float] = {}
    for short, weight in stated.items():
        for design_id in resolved([short], known):
            named[design_id] = named.get(design_id, 0.0) + weight
    total = sum(named.values())
    if total <= 0:
        return tuple((design_id, 1.0 / len(references)) for design_id in references)
    return tuple((design_id, weight / total) for design_id, weight in named.items() if weight > 0)


def believed_genome(text: str | None, source: str) -> Genome | None:
    """The genome of a reply, if it is one and composes to `source`; else None, and the design counts as a file."""
    if text is None:
        return None

    def read() -> Genome | None:
        found = from_json(text)
        return found if _body(compose(found)) == _body(source) else None

    return alone(read, lambda reason: None)


def _body(source: str) -> str:
    """A composed file without its docstring."""
    return source.partition('"""\n')[2] if source.startswith('"""') else source


def _judged(agents: Agents, candidate: Candidate, known: Mapping[str, str], judge: Judge, seed: int) -> Judged:
    """After its gates; a file that cannot be used goes back to the designer `REPAIRS` times with the reason. A duplicate does not."""
    found = judged(candidate, known, judge)
    for attempt in range(REPAIRS):
        gate = blocking_gate(found)
        if gate not in REPAIRABLE:
            return found
        request = RepairRequest(
            direction=found.rationale, source=found.source, error=found.examined.reason,
            genome=found.genome.to_json() if found.genome else None,
        )
        reply = agents.call(DESIGN_REPAIR_ROLE, request, seed=seed, attempt=attempt)
        if isinstance(reply, AgentFailure) or reply.solver_code == found.source:
            return found
        genome = believed_genome(reply.genome, reply.solver_code)
        rationale = f"{found.rationale} Mended: {reply.error_summary}"[:6000]
        candidate = replace(candidate, source=reply.solver_code, hyper={}, genome=genome, rationale=rationale)
        found = judged(candidate, known, judge)
        agents.assign(reply, found.design_id)
    return found


def blocking_gate(found: Judged) -> str | None:
    """The gate that stopped a candidate; None for an accepted one."""
    return next((verdict.gate for verdict in found.examined.verdicts if verdict.outcome not in ("pass", "skip")), None)


def seed_candidate(name: str, source: str, known: Mapping[str, str], judge: Judge, genome: Genome | None = None) -> Judged:
    """A seed design: a file without parents or direction. `genome` where the file computes the same (`grammar_recognise`)."""
    start = Candidate(
        source=source, hyper={}, genome=genome, title=name[:40], operator="seed", origin="seed", rationale=f"Seed design from the file {name}.",
        direction_id=None, weights=(),
    )
    return judged(start, known, judge)


def design_row(candidate: Judged, cycle: str, source_sha: str, traced_sha: str | None, *, tuned: bool = False) -> dict[str, Any]:
    """A row of DESIGNS. The shas are those of the blobs that hold the source and the traced design's JSON."""
    traced = candidate.traced
    return {
        "design_id": candidate.design_id, "state": "accepted" if candidate.accepted else "blocked", "cycle": cycle, "title": candidate.title,
        "origin": candidate.origin, "operator": candidate.operator, "rationale": candidate.rationale, "direction_id": candidate.direction_id,
        "source_sha": source_sha, "traced_sha": traced_sha, "graph_sha": traced.graph_sha if traced else None, "key": candidate.key(),
        "genome": candidate.genome.to_json() if candidate.genome else None, "hyper": values_text(candidate.hyper),
        "hyper_values": json.dumps(traced.hyper_values, sort_keys=True) if traced else None, "tuned": tuned,
        "reason": candidate.examined.reason or None,
        "key_insight": None, "success_level": None, "imported_from": None,
    }


def derivation_rows(candidate: Judged, cycle: str) -> list[dict[str, Any]]:
    """Rows of DERIVATIONS: one a parent, weights summing to 1; none for a seed."""
    return [
        {"child_id": candidate.design_id, "parent_id": parent, "operator": candidate.operator, "weight": weight, "cycle": cycle}
        for parent, weight in candidate.weights
        if parent != candidate.design_id
    ]


def store_candidate(blobs: Any, candidate: Judged) -> tuple[str, str | None]:
    """Puts source and traced JSON into the blob store; gives their shas."""
    source_sha = blobs.put(candidate.source.encode(errors="backslashreplace"))
    if candidate.traced is None:
        return source_sha, None
    return source_sha, blobs.put(json.dumps(candidate.traced.to_json(), sort_keys=True, separators=(",", ":")).encode())
