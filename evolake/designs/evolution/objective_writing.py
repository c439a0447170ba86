"""The objective writer's turn in a cycle: new objectives, tried on the results at hand before they join the portfolio.

A new objective scores the designs that have results. One that scores none of them goes back to its writer once, with the reason, and is blocked if
that does not mend it; the verdict is the gate's (`judging_objectives`). A missing score of a single design is no failure: it ranks as infinite.
An objective that is an earlier one word for word is no new objective. A reply that cannot even be taken in is a failed call; the others go on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.planning import schedule_text
from evolake.designs.evolution.population import Population
from evolake.designs.model.boundary import alone
from evolake.designs.roles.models import ObjectiveReply, ObjectiveRequest, ObjectiveSummary, RepairRequest
from evolake.designs.roles.objective import OBJECTIVE_REPAIR_ROLE, OBJECTIVE_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.objectives.portfolio import ObjectiveSpec, baseline_objective, draw
from evolake.objectives.score import score_all
from evolake.objectives.source import objective_id
from evolake.objectives.tables import LongConsensus
from evolake.seeds import child_seed, generator

RECENT_RESULTS = 60
WRITTEN = "written"


@dataclass(frozen=True)
class Objective:
    """What scoring needs of an objective."""

    objective_id: str
    source: str


@dataclass(frozen=True)
class Written:
    """Rows of OBJECTIVES, the blocked with their reason, and the calls that gave none."""

    rows: list[dict[str, Any]]
    failures: list[AgentFailure]


def initial_objectives(settings: DesignsSettings, *, cycle: str, root_seed: int) -> list[dict[str, Any]]:
    """The portfolio that the line starts with: the baseline objective and draws of different families. Rows of OBJECTIVES."""
    random = generator(root_seed, LINE, cycle, "initial-objectives")
    specs = [baseline_objective()]
    while len(specs) < settings.initial_objectives:
        specs.append(draw(random, specs))
    return [spec_row(spec, cycle, "seed") for spec in specs]


def live_objectives(population: Population) -> list[Objective]:
    """The objectives that score: accepted ones, in the order they came."""
    live = population.objectives.filter(population.objectives["state"] == "accepted")
    return [Objective(row["objective_id"], row["source"]) for row in live.to_dicts()]


def write_objectives(
    agents: Agents, population: Population, pool: Any, *, settings: DesignsSettings, cycle: str, root_seed: int, origin: str,
    scored: LongConsensus | None = None, guidance: Sequence[str] = (),
) -> Written:
    """`settings.objectives_per_cycle` new objectives.

    Args:
        population: with the experiments of this cycle in it; new objectives are tried on them. pool: an open jail pool.
        origin: the backend's name. scored: the last consensus, for the weights that the writer sees.
    """
    rows: list[dict[str, Any]] = []
    failures: list[AgentFailure] = []
    taken = set(population.objectives["objective_id"].to_list())
    for number in range(settings.objectives_per_cycle):
        current = population.add(objectives=rows)
        request = _request(current, settings, scored, guidance)
        reply = agents.call(OBJECTIVE_ROLE, request, seed=child_seed(root_seed, LINE, cycle, "objective", number))
        if isinstance(reply, AgentFailure):
            failures.append(reply)
            continue
        seed = child_seed(root_seed, LINE, cycle, "objective-repair", number)
        row = alone(
            lambda said=reply, own=seed: _tried(agents, said, population, pool, cycle, origin, own),
            lambda reason: AgentFailure(OBJECTIVE_ROLE.name, "invalid", reason, 1), passing=(InputError,),
        )
        if isinstance(row, AgentFailure):
            failures.append(row)
            continue
        agents.assign(reply, row["objective_id"])
        if row["objective_id"] not in taken:
            taken.add(row["objective_id"])
            rows.append(row)
    return Written(rows, failures)


def failure_of(objective: Objective, results: Mapping[str, Sequence[Mapping[str, Any]]], pool: Any) -> str | None:
    """Why an objective is of no use: it scored no design that has results. None when it scored one, or when there is nothing to try it on."""
    scores = score_all([objective], {design_id: rows for design_id, rows in results.items() if rows}, pool)
    if not scores or any(row.score is not None for row in scores):
        return None
    return f"no score for any of {len(scores)} designs; the first: {scores[0].status} {scores[0].reason}".strip()


def objective_summaries(population: Population, scored: LongConsensus | None) -> list[ObjectiveSummary]:
    """Live objectives as roles see them, the heaviest first."""
    weights: dict[str, float] = {}
    taus: dict[str, float] = {}
    if scored is not None:
        weights = dict(zip(map(str, scored.objective_ids), map(float, scored.result.weights), strict=True))
        taus = {str(name): float(tau) for name, tau in zip(scored.objective_ids, scored.result.median_tau, strict=True) if math.isfinite(tau)}
    live = population.objectives.filter(population.objectives["state"] == "accepted").to_dicts()
    found = [
        ObjectiveSummary(
            objective_id=row["objective_id"], description=row["description"], family=row["family"] or WRITTEN,
            parameters=json.loads(row["parameters"] or "{}"), source=row["source"], created_round=row["created_round"],
            weight=weights.get(row["objective_id"], 0.0), multiplier=row["multiplier"], median_tau=taus.get(row["objective_id"]),
        )
        for row in live
    ]
    return sorted(found, key=lambda item: (-item.weight, item.objective_id))


def spec_row(spec: ObjectiveSpec, cycle: str, origin: str) -> dict[str, Any]:
    """A row of OBJECTIVES for a drawn objective. The round of creation is the cycle's number."""
    return _row(spec.objective_id, spec.family, dict(spec.parameters), spec.description, spec.source, cycle, origin, None)


def _row(
    identifier: str, family: str, parameters: Mapping[str, Any], description: str, source: str, cycle: str, origin: str, reason: str | None
) -> dict[str, Any]:
    return {
        "objective_id": identifier, "state": "blocked" if reason else "accepted", "cycle": cycle, "created_round": int(cycle), "family": family,
        "parameters": json.dumps(parameters, sort_keys=True), "description": description, "source": source, "multiplier": 1.0, "origin": origin,
        "reason": reason, "imported_from": None,
    }


def _tried(
    agents: Agents, reply: ObjectiveReply, population: Population, pool: Any, cycle: str, origin: str, seed: int
) -> dict[str, Any]:
    """The row of a new objective, after one turn of repair where it failed."""
    results = population.results()
    source, family, parameters, description = reply.objective_code, reply.family, dict(reply.parameters), reply.objective_description
    reason = failure_of(Objective(objective_id(source), source), results, pool)
    if reason is not None:
        request = RepairRequest(direction=reply.objective_description, source=source, error=reason)
        mended = agents.call(OBJECTIVE_REPAIR_ROLE, request, seed=seed)
        if not isinstance(mended, AgentFailure):
            source, family, parameters = mended.objective_code, mended.family, dict(mended.parameters)
            description = mended.objective_description or description
            agents.assign(mended, objective_id(source))
            reason = failure_of(Objective(objective_id(source), source), results, pool)
    return _row(objective_id(source), family or WRITTEN, parameters, description, source, cycle, origin, reason)


def _request(
    population: Population, settings: DesignsSettings, scored: LongConsensus | None, guidance: Sequence[str]
) -> ObjectiveRequest:
    results = [row for rows in population.results().values() for row in rows]
    return ObjectiveRequest(
        review_guidance=str(population.value("review_guidance", "none yet")), schedule=schedule_text(settings),
        baseline_source=baseline_objective().source, existing=objective_summaries(population, scored), recent_results=results[-RECENT_RESULTS:],
        guidance=list(guidance),
    )
