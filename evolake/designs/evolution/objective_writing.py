"""The objective writer's turn in a cycle: new objectives, tried on the results at hand before they join the
portfolio.

A new objective goes through its gate (`judging_objectives`). One that is blocked goes back to its writer
once, with the reason, and stays as a row; so does what comes back, blocked or not. An objective that is an
earlier one word for word is no new objective. A reply that cannot even be taken in is a failed call; the
others continue. A program's genome is read from its file (`programs.compose.read`), whether an operator or a
model wrote it. What made it and its parents are noted if a reply says so, which only the operators' do;
parents that do not vote are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.agents import AgentFailure, Agents, Reply
from evolake.designs.evolution.attempts import contest_outcomes
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.judging_objectives import JudgeObjective
from evolake.designs.evolution.planning import schedule_text
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.scoring import live_objectives
from evolake.designs.model.boundary import alone
from evolake.designs.roles.models import (
    ObjectiveReply,
    ObjectiveRequest,
    ObjectiveSummary,
    ProgramRepairReply,
    ProgramReply,
    RepairRequest,
)
from evolake.designs.roles.objective import OBJECTIVE_REPAIR_ROLE, OBJECTIVE_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.gates import GateResults, Verdict
from evolake.objectives.long_consensus import LongConsensus
from evolake.objectives.portfolio import ObjectiveSpec, baseline_objective, new_objective
from evolake.objectives.programs.compose import read
from evolake.objectives.programs.expression import to_json
from evolake.objectives.score import Objective
from evolake.objectives.source import objective_id
from evolake.seeds import CycleSeeds, generator

RECENT_RESULTS, SHOWN_BLOCKED = 60, 6
WRITTEN = "written"
DRAWN = "draw"


@dataclass(frozen=True)
class Written:
    """Rows of OBJECTIVES, the blocked with their reason; what their gate said; and the calls that gave
    none."""

    rows: list[dict[str, Any]]
    verdicts: list[Verdict]
    failures: list[AgentFailure]


def initial_objectives(settings: DesignsSettings, *, cycle: str, root_seed: int) -> list[dict[str, Any]]:
    """Return the portfolio that the line starts with: the baseline objective and draws of different families.
    Rows of OBJECTIVES."""
    random = generator(root_seed, LINE, cycle, "initial-objectives")
    specs = [baseline_objective()]
    while len(specs) < settings.initial_objectives:
        specs.append(new_objective(random, specs))
    return [spec_row(spec, cycle, "seed") for spec in specs]


def judged_rows(rows: Sequence[dict[str, Any]], judge: JudgeObjective, *, starting: bool = False) -> Written:
    """Return objectives that were written without a request, through their gate; what judging one raises is
    its block, and one that is blocked is not asked.

    starting: see `judging_objectives.JudgeObjective`.
    """
    ended: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    for row in rows:
        item = Objective(row["objective_id"], row["source"])
        result = (
            row["reason"]
            if row["state"] == "blocked"
            else alone(
                lambda element=item: judge(element, starting=starting),
                lambda reason: reason,
                passing=(InputError,),
            )
        )
        if isinstance(result, GateResults):
            ended.append(_ended(row, result))
            verdicts += result.verdicts
        else:
            ended.append({**row, "state": "blocked", "reason": result})
    return Written(ended, verdicts, [])


def write_objectives(
    agents: Agents,
    population: Population,
    judge: JudgeObjective,
    *,
    settings: DesignsSettings,
    seeds: CycleSeeds,
    origin: str,
    scored: LongConsensus | None = None,
    guidance: Sequence[str] = (),
) -> Written:
    """Return `settings.objectives_per_cycle` new objectives.

    Args:
        population: with the experiments of this cycle in it. judge: takes an objective through its gate.
        origin: the backend's name. scored: the consensus on the results at hand, for the weights and
            agreements that the writer sees.
    """
    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    failures: list[AgentFailure] = []
    taken = set(population.objectives["objective_id"].to_list())
    for number in range(settings.objectives_per_cycle):
        current = population.add(objectives=rows)
        request = _request(current, settings, scored, guidance)
        reply = agents.call(OBJECTIVE_ROLE, request, seed=seeds.seed("objective", number))
        if isinstance(reply.value, AgentFailure):
            failures.append(reply.value)
            continue
        turn = _Turn(agents, current, judge, seeds.cycle, origin, frozenset(taken))
        seed = seeds.seed("objective-repair", number)
        made = alone(
            lambda said=reply.with_value(reply.value), own=seed, at=turn: at.tried(said, own),
            lambda reason: AgentFailure(OBJECTIVE_ROLE.name, "invalid", reason, 1),
            passing=(InputError,),
        )
        if isinstance(made, AgentFailure):
            failures.append(made)
            continue
        for row, result in made:
            taken.add(row["objective_id"])
            rows.append(row)
            verdicts += result.verdicts
    return Written(rows, verdicts, failures)


def derivation_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of DERIVATIONS of new objectives: one per parent, weights summing to 1."""
    return [
        {
            "child_id": row["objective_id"],
            "parent_id": parent,
            "operator": row["operator"],
            "weight": weight,
            "cycle": row["cycle"],
        }
        for row in rows
        for parent, weight in json.loads(row["parents"] or "{}").items()
    ]


def objective_summaries(population: Population, scored: LongConsensus | None) -> list[ObjectiveSummary]:
    """Return live objectives as roles see them, the heaviest first."""
    weights: dict[str, float] = {}
    taus: dict[str, float] = {}
    nearest: dict[str, float] = {}
    if scored is not None:
        nearest = _nearest_taus(scored)
        weights = dict(zip(map(str, scored.objective_ids), map(float, scored.result.weights), strict=True))
        taus = {
            str(name): float(tau)
            for name, tau in zip(scored.objective_ids, scored.result.median_tau, strict=True)
            if math.isfinite(tau)
        }
    missing = (
        {}
        if scored is None
        else {
            str(name): int(np.count_nonzero(~np.isfinite(row)))
            for name, row in zip(scored.objective_ids, scored.scores, strict=True)
        }
    )
    assessments = population.value("review_assessments", {})
    live = population.objectives.filter(population.objectives["state"] == "accepted").to_dicts()
    result = [
        ObjectiveSummary(
            objective_id=row["objective_id"],
            description=row["description"],
            family=row["family"] or WRITTEN,
            parameters=json.loads(row["parameters"] or "{}"),
            source=row["source"],
            created_round=row["created_round"],
            weight=weights.get(row["objective_id"], 0.0),
            multiplier=row["multiplier"],
            median_tau=taus.get(row["objective_id"]),
            nearest_tau=nearest.get(row["objective_id"]),
            genome=row["genome"],
            assessment=assessments.get(row["objective_id"], ""),
            without_score=missing.get(row["objective_id"], 0),
        )
        for row in live
    ]
    return sorted(result, key=lambda item: (-item.weight, item.objective_id))


def spec_row(
    spec: ObjectiveSpec,
    cycle: str,
    origin: str,
    *,
    operator: str | None = None,
    parents: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return a row of OBJECTIVES for a new objective. parents: id -> share; None if it has none."""
    return {
        **spec.row(cycle, origin),
        "imported_from": None,
        "operator": operator,
        "genome": genome_text(spec.source),
        "parents": json.dumps(parents, sort_keys=True) if parents else None,
    }


def genome_text(source: str) -> str | None:
    """Return the program that an objective's file is, as JSON; None for a file that was not written from
    one."""
    program = read(source)
    return None if program is None else to_json(program)


def with_genome(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of OBJECTIVES that came from elsewhere, with the program that its file is; what reading
    that raises is its block."""
    genome, reason = alone(lambda: (genome_text(row["source"]), None), lambda reason: (None, reason))
    return (
        {**row, "genome": genome}
        if reason is None
        else {**row, "genome": None, "state": "blocked", "reason": reason}
    )


def _ended(row: Mapping[str, Any], result: GateResults) -> dict[str, Any]:
    """Return the row after its gate."""
    blocked = result.blocked_by
    return {
        **row,
        "state": "accepted" if result.accepted else "blocked",
        "reason": blocked.reason if blocked else None,
    }


@dataclass(frozen=True)
class _Turn:
    """One request to the writer, and what was there before it."""

    agents: Agents
    population: Population
    judge: JudgeObjective
    cycle: str
    origin: str
    taken: frozenset[str]

    def tried(self, replied: Reply[ObjectiveReply], seed: int) -> list[tuple[dict[str, Any], GateResults]]:
        """Return what a reply came to: its row and, where that is blocked, the row of what came back. One
        that is there already is none."""
        reply = replied.value
        made = self._row(
            reply.objective_code,
            reply.family,
            reply.parameters,
            reply.objective_description,
            reply.operator if isinstance(reply, ProgramReply) else None,
            reply.parents if isinstance(reply, ProgramReply) else {},
        )
        self.agents.assign(replied.call_id, made["objective_id"])
        if made["objective_id"] in self.taken:
            return []
        judged = [self._judged(made)]
        if judged[0][0]["state"] == "accepted":
            return judged
        request = RepairRequest(
            direction=reply.objective_description, source=made["source"], error=str(judged[0][0]["reason"])
        )
        repaired = self.agents.call(OBJECTIVE_REPAIR_ROLE, request, seed=seed)
        mended = repaired.value
        if isinstance(mended, AgentFailure):
            return judged
        operator, parents = None, {}
        if isinstance(mended, ProgramRepairReply):
            operator = mended.operator
            parents = {} if operator == DRAWN else {made["objective_id"]: 1.0}
        other = self._row(
            mended.objective_code,
            mended.family,
            mended.parameters,
            mended.objective_description or reply.objective_description,
            operator,
            parents,
            beside=made["objective_id"],
        )
        self.agents.assign(repaired.call_id, other["objective_id"])
        if other["objective_id"] not in {*self.taken, made["objective_id"]}:
            judged.append(self._judged(other))
        return judged

    def _judged(self, row: dict[str, Any]) -> tuple[dict[str, Any], GateResults]:
        result = self.judge(Objective(row["objective_id"], row["source"]))
        return _ended(row, result), result

    def _row(
        self,
        source: str,
        family: str | None,
        parameters: Mapping[str, Any],
        description: str,
        operator: str | None,
        parents: Mapping[str, float],
        beside: str = "",
    ) -> dict[str, Any]:
        known = {item.objective_id for item in live_objectives(self.population)} | {beside}
        kept = {name: weight for name, weight in parents.items() if name in known}
        total = sum(kept.values())
        return spec_row(
            ObjectiveSpec(objective_id(source), family or WRITTEN, parameters, description, source),
            self.cycle,
            self.origin,
            operator=operator,
            parents={name: weight / total for name, weight in kept.items()} if total > 0 else None,
        )


def _nearest_taus(scored: LongConsensus) -> dict[str, float]:
    """Objective -> agreement with the one that agrees with it most; none where one votes alone."""
    tau = scored.result.tau
    if len(tau) < 2:
        return {}
    others = np.where(np.eye(len(tau), dtype=bool), -np.inf, tau).max(axis=1)
    return {str(name): float(nearest) for name, nearest in zip(scored.objective_ids, others, strict=True)}


def _request(
    population: Population, settings: DesignsSettings, scored: LongConsensus | None, guidance: Sequence[str]
) -> ObjectiveRequest:
    results = [row for rows in population.results().values() for row in rows]
    return ObjectiveRequest(
        review_guidance=str(population.value("review_guidance", "none yet")),
        schedule=schedule_text(settings),
        baseline_source=baseline_objective().source,
        existing=objective_summaries(population, scored),
        recent_results=results[-RECENT_RESULTS:],
        guidance=list(guidance),
        outcomes=contest_outcomes(population),
        blocked=blocked_objectives(population),
    )


def blocked_objectives(population: Population) -> list[str]:
    """Return description and reason of the newest objectives that a gate blocked, the oldest first."""
    rows = population.objectives.filter(population.objectives["state"] == "blocked").to_dicts()
    return [f"{row['description']}: {row['reason']}" for row in rows if row["reason"]][-SHOWN_BLOCKED:]
