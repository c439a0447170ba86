"""From a designer's reply to a candidate that is traced, repaired once, and distinguished from what is known.

A candidate that cannot be used is a value: its verdicts say which gate stopped it and why. The gates are
passed in (`run_gates` with its rules bound), so every candidate meets the same ones, seeds and tuned
copies too. The genome that comes with a reply is believed only if composing it gives that very file. A reply
that cannot even be taken in is a failed call; no reply stops the line (`designing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.canonical_json import canonical_json
from evolake.designs.evolution.attempts import idea_of
from evolake.designs.evolution.judging import DesignResults
from evolake.designs.evolution.planning import resolved, short_ids
from evolake.designs.evolution.population import Population
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import OpenGenome, read_genome
from evolake.designs.genome.variation import design_key, values_text
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import HyperValue, TracedDesign
from evolake.designs.roles.designer import DESIGN_REPAIR_ROLE
from evolake.designs.roles.models import DesignReply, RepairRequest

REPAIRS = 1
REPAIRABLE = ("contract", "trace", "dynamics")
Judge = Callable[[str, Mapping[str, HyperValue], Mapping[str, str]], DesignResults]
"""(source, hyper, {graph_sha: design id of every known design}) -> the design after its gates."""


@dataclass(frozen=True)
class Candidate:
    """A proposed design that has not met its gates."""

    source: str
    hyper: Mapping[str, HyperValue]
    genome: OpenGenome | None
    title: str
    operator: str
    origin: str
    rationale: str
    direction_id: str | None
    weights: tuple[tuple[str, float], ...]

    def key(self) -> str:
        """Return `variation.design_key` of this design."""
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


def judged(candidate: Candidate, known: Mapping[str, str], judge: Judge) -> Judged:
    """Return the candidate after its gates. `known`: graph_sha -> design id."""
    proposed = {field.name: getattr(candidate, field.name) for field in fields(Candidate)}
    return Judged(**proposed, examined=judge(candidate.source, candidate.hyper, known))


def candidate_of(
    reply: DesignReply, population: Population, direction: Mapping[str, Any], origin: str
) -> Candidate:
    """Return a designer's reply as a candidate that no gate has seen. A genome that is not that of the code
    is dropped."""
    known = short_ids(population)
    weights = shares(
        {item.design_id: item.weight for item in reply.reference_weights},
        known,
        list(direction["reference_ids"]),
    )
    genome = believed_genome(reply.genome, reply.solver_code)
    return Candidate(
        source=reply.solver_code,
        hyper=dict(reply.hyper),
        genome=genome,
        title=reply.short_name,
        operator=reply.operator or "written",
        origin=origin,
        rationale=reply.explanation,
        direction_id=direction["direction_id"],
        weights=weights,
    )


def shares(
    stated: Mapping[str, float], known: Mapping[str, str], references: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """Return stated weights by whole id, over designs that exist, summing to 1; equal shares of the
    references if nothing usable was stated."""
    named: dict[str, float] = {}
    for short, weight in stated.items():
        for design_id in resolved([short], known):
            named[design_id] = named.get(design_id, 0.0) + weight
    total = sum(named.values())
    if total <= 0:
        return tuple((design_id, 1.0 / len(references)) for design_id in references)
    return tuple((design_id, weight / total) for design_id, weight in named.items() if weight > 0)


def believed_genome(text: str | None, source: str) -> OpenGenome | None:
    """Return the genome of a reply, if it is one and composes to `source`; else None, and the design counts
    as a file."""
    if text is None:
        return None

    def read() -> OpenGenome | None:
        result = read_genome(text)
        return result if _body(compose(result)) == _body(source) else None

    return alone(read, lambda reason: None)


def _body(source: str) -> str:
    """Return a composed file without its docstring."""
    return source.partition('"""\n')[2] if source.startswith('"""') else source


def judged_and_repaired(
    agents: Agents, candidate: Candidate, known: Mapping[str, str], judge: Judge, seed: int
) -> Judged:
    """After its gates; a file that cannot be used goes back to the designer `REPAIRS` times with the reason.
    A duplicate does not."""
    result = judged(candidate, known, judge)
    for attempt in range(REPAIRS):
        gate = blocking_gate(result)
        if gate not in REPAIRABLE:
            return result
        request = RepairRequest(
            direction=result.rationale,
            source=result.source,
            error=result.examined.reason,
            genome=result.genome.to_json() if result.genome else None,
        )
        repaired = agents.call(DESIGN_REPAIR_ROLE, request, seed=seed, attempt=attempt)
        reply = repaired.value
        if isinstance(reply, AgentFailure) or reply.solver_code == result.source:
            return result
        genome = believed_genome(reply.genome, reply.solver_code)
        rationale = f"{result.rationale} Repaired: {reply.error_summary}"[:6000]
        candidate = replace(candidate, source=reply.solver_code, hyper={}, genome=genome, rationale=rationale)
        result = judged(candidate, known, judge)
        agents.assign(repaired.call_id, result.design_id)
    return result


def blocking_gate(result: Judged) -> str | None:
    """Return the gate that stopped a candidate; None for an accepted one."""
    return next(
        (verdict.gate for verdict in result.examined.verdicts if verdict.outcome not in ("pass", "skip")),
        None,
    )


def seed_candidate(
    name: str, source: str, known: Mapping[str, str], judge: Judge, genome: OpenGenome | None = None
) -> Judged:
    """Return a seed design: a file without parents or direction. `genome` where the file computes the same
    (`recognise`)."""
    start = Candidate(
        source=source,
        hyper={},
        genome=genome,
        title=name[:40],
        operator="seed",
        origin="seed",
        rationale=f"Seed design from the file {name}.",
        direction_id=None,
        weights=(),
    )
    return judged(start, known, judge)


def design_row(
    candidate: Judged, cycle: str, source_sha: str, traced_sha: str | None, *, tuned: bool = False
) -> dict[str, Any]:
    """Return a row of DESIGNS. The shas are those of the blobs that hold the source and the traced design's
    JSON."""
    traced = candidate.traced
    return {
        "design_id": candidate.design_id,
        "state": "accepted" if candidate.accepted else "blocked",
        "cycle": cycle,
        "title": candidate.title,
        "origin": candidate.origin,
        "operator": candidate.operator,
        "rationale": candidate.rationale,
        "direction_id": candidate.direction_id,
        "source_sha": source_sha,
        "traced_sha": traced_sha,
        "graph_sha": traced.graph_sha if traced else None,
        "key": candidate.key(),
        "genome": candidate.genome.to_json() if candidate.genome else None,
        "hyper": values_text(candidate.hyper),
        "hyper_values": json.dumps(traced.hyper_values, sort_keys=True) if traced else None,
        "tuned": tuned,
        "reason": candidate.examined.reason or None,
        "key_insight": None,
        "success_level": None,
        "imported_from": None,
        "idea": idea_of(candidate.rationale) or None,
    }


def derivation_rows(candidate: Judged, cycle: str) -> list[dict[str, Any]]:
    """Return rows of DERIVATIONS: one per parent, weights summing to 1; none for a seed."""
    return [
        {
            "child_id": candidate.design_id,
            "parent_id": parent,
            "operator": candidate.operator,
            "weight": weight,
            "cycle": cycle,
        }
        for parent, weight in candidate.weights
        if parent != candidate.design_id
    ]


def store_candidate(blobs: Any, candidate: Judged) -> tuple[str, str | None]:
    """Put source and traced JSON into the blob store; return their sha256."""
    source_sha = blobs.put(candidate.source.encode(errors="backslashreplace"))
    if candidate.traced is None:
        return source_sha, None
    return source_sha, blobs.put(canonical_json(candidate.traced.to_json(), ascii_only=True).encode())
