"""The designer's last turn in a cycle, the meta reviewer's, and what a cycle leaves in the archive's state
for the next one.

The designer says what the results of each new design show, and how much each reference shaped it (paper,
section S5.2). These weights replace those stated at creation in the archive, which the graph search reads;
the lake's own derivations keep what was stated when the design was made. The operators state the same both
times.

Every `meta_review_every` designs the portfolio is reviewed as a whole: multipliers move, and guidance for the
next objectives is kept. Between reviews the counters that decide about it live in the archive's state, so an
old cycle decides again as it did.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.designs.evolution.attempts import (
    KEPT_DECISIONS,
    KEPT_FAILED,
    ConsensusWinner,
    against_parent,
    contest_outcomes,
    counted_seconds,
    decision_note,
    scaling_text,
)
from evolake.designs.evolution.design_contest import Succession
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.objective_writing import objective_summaries
from evolake.designs.evolution.planning import detail, level_results, schedule_text, short_ids, summaries
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import shares
from evolake.designs.evolution.schedule import sizes
from evolake.designs.roles.designer import ANALYSIS_ROLE
from evolake.designs.roles.models import (
    SHORT_ID,
    AnalysisRequest,
    MeasuredDesign,
    ProgressEntry,
    ReferenceWeight,
    ReviewRequest,
)
from evolake.designs.roles.objective import REVIEW_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.objectives.long_consensus import LongConsensus
from evolake.seeds import child_seed

TOP_DESIGNS = 10


@dataclass(frozen=True)
class PortfolioReview:
    """Rows of REVIEWS; none, with the failure, where the role gave no reply."""

    rows: list[dict[str, Any]]
    failure: AgentFailure | None = None


def review_portfolio(
    agents: Agents,
    population: Population,
    scored: LongConsensus,
    *,
    settings: DesignsSettings,
    cycle: str,
    root_seed: int,
    guidance: Sequence[str] = (),
) -> PortfolioReview:
    """Review every live objective.

    Args:
        population: with this cycle's ranking. scored: the final consensus of the cycle.
    """
    known = {str(name): row for name, row in zip(scored.objective_ids, scored.scores, strict=True)}
    taus = {str(name): row for name, row in zip(scored.objective_ids, scored.result.tau, strict=True)}
    shown = [item for item in objective_summaries(population, scored) if item.objective_id in known]
    places = [[str(name) for name in scored.objective_ids].index(item.objective_id) for item in shown]
    design_ids = [str(name) for name in scored.design_ids]
    by_design = {name: reach(population.experiment_rows([name]))["largest_solved"] for name in design_ids}
    reply = agents.call(
        REVIEW_ROLE,
        ReviewRequest(
            round=int(cycle),
            schedule=schedule_text(settings),
            objectives=shown,
            tau=[[_finite(taus[item.objective_id][place]) for place in places] for item in shown],
            scores={
                item.objective_id: [_finite(score) for score in known[item.objective_id]] for item in shown
            },
            design_ids=[name[:SHORT_ID] for name in design_ids],
            largest_solved=[by_design[name] for name in design_ids],
            top_designs=sorted(summaries(population), key=lambda item: item.rank)[:TOP_DESIGNS],
            progress=[ProgressEntry(**entry) for entry in population.value("progress", [])],
            previous_guidance=str(population.value("review_guidance", "none yet")),
            guidance=list(guidance),
            outcomes=contest_outcomes(population),
        ),
        seed=child_seed(root_seed, LINE, cycle, "review"),
    ).value
    if isinstance(reply, AgentFailure):
        return PortfolioReview([], reply)
    before = {item.objective_id: item.multiplier for item in shown}
    short = {name[:SHORT_ID]: name for name in before}
    details = {
        short[item.objective_id[:SHORT_ID]]: item
        for item in reply.objective_analysis
        if item.objective_id[:SHORT_ID] in short
    }
    rows = [
        {
            "cycle": cycle,
            "objective_id": identifier,
            "assessment": item.assessment,
            "multiplier_before": before[identifier],
            "multiplier": item.weight_multiplier,
            "research_phase": reply.research_phase,
            "research_assessment": reply.research_assessment,
            "guidance": reply.objective_directions,
        }
        for identifier, item in details.items()
    ]
    return PortfolioReview(rows)


def reviewed(population: Population, rows: Sequence[Mapping[str, Any]]) -> Population:
    """Return the archive after a review with these rows of REVIEWS: multipliers, guidance and phase, and the
    count starts again. No rows: no review."""
    if not rows:
        return population
    multipliers = {row["objective_id"]: row["multiplier"] for row in rows}
    return population.with_multipliers(multipliers).with_values(
        designs_since_review=0,
        review_guidance=rows[0]["guidance"],
        review_phase=rows[0]["research_phase"],
        review_assessments={row["objective_id"]: row["assessment"] for row in rows},
    )


def with_champion(
    population: Population, succession: Succession, *, cycle: str, new_designs: int
) -> Population:
    """Return the archive after a cycle's duel: the champion's state, the progress entry, and the counters.

    Args:
        new_designs: accepted designs of this cycle, for the count towards the next review.
    """
    before = population.champion_id
    changed = before != succession.champion_id
    states = {succession.champion_id: "champion"}
    if before is not None and changed:
        states[before] = "accepted"
    reached = reach(population.experiment_rows([succession.champion_id]))
    entry = {"cycle": cycle, "reach": reached["largest_solved"], "steps": round(reached["median_work"] or 0)}
    return population.with_states(states).with_values(
        progress=[*population.value("progress", []), entry],
        cycles_without_gain=0 if changed else int(population.value("cycles_without_gain", 0)) + 1,
        designs_since_review=int(population.value("designs_since_review", 0)) + new_designs,
        decisions=[*population.value("decisions", []), *map(decision_note, succession.decisions)][
            -KEPT_DECISIONS:
        ],
    )


def with_notes(
    population: Population, first: ConsensusWinner, failed_proposals: Sequence[Mapping[str, Any]]
) -> Population:
    """Return the archive with what the next cycle is sent: why the first by consensus is or is not champion,
    and the replies that gave no design.

    failed_proposals: the cycle's rows of `FAILED_PROPOSALS`.
    """
    notes = [
        {name: row.get(name) for name in ("cycle", "role", "reason", "idea")} for row in failed_proposals
    ]
    said = f"First by consensus: {first.design_id[:SHORT_ID]} ({first.title}). {first.reason}"
    return population.with_values(
        first_by_consensus=said, unmade=[*population.value("unmade", []), *notes][-KEPT_FAILED:]
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


DESIGNS_OF_A_CALL = 8
"""Designs that one call analyses at most."""


@dataclass(frozen=True)
class Analyses:
    """Rows of ANALYSES, the archive with their lessons and weights, and the calls that gave none."""

    rows: list[dict[str, Any]]
    population: Population
    failures: list[AgentFailure]


def analyse_designs(
    agents: Agents,
    population: Population,
    design_ids: Sequence[str],
    directions: Mapping[str, str],
    texts: Texts,
    *,
    settings: DesignsSettings,
    cycle: str,
    root_seed: int,
) -> Analyses:
    """Return analyses of the new designs of a cycle that were measured and ranked.

    Args:
        population: with this cycle's experiments, ranking and champion. directions: direction id -> its text.
    """
    ranks = {row["design_id"]: row for row in population.ranking.to_dicts()}
    ids = [design_id for design_id in design_ids if design_id in ranks]
    measured = [
        _measured_design(population, design_id, directions, ranks, texts, settings) for design_id in ids
    ]
    outcomes = contest_outcomes(population)
    parts = [
        measured[first : first + DESIGNS_OF_A_CALL] for first in range(0, len(measured), DESIGNS_OF_A_CALL)
    ]
    seeds = [child_seed(root_seed, LINE, cycle, "analysis", number) for number in range(len(parts))]
    replies = agents.call_many(
        ANALYSIS_ROLE, [AnalysisRequest(designs=part, outcomes=outcomes) for part in parts], seeds=seeds
    )
    values = [reply.value for reply in replies]
    found = {
        item.design_id: item
        for value in values
        if not isinstance(value, AgentFailure)
        for item in value.analyses
    }
    known = short_ids(population)
    rows: list[dict[str, Any]] = []
    failures = [value for value in values if isinstance(value, AgentFailure)]
    weights: dict[str, dict[str, float]] = {}
    for design_id in ids:
        if (reply := found.get(design_id[:SHORT_ID])) is None:
            continue
        parents = [parent for child, parent, _ in population.edges() if child == design_id]
        allowed = {short: whole for short, whole in known.items() if whole in parents}
        if parents and reply.reference_weights:
            weights[design_id] = dict(
                shares({item.design_id: item.weight for item in reply.reference_weights}, allowed, parents)
            )
        rows.append(
            {
                "design_id": design_id,
                "cycle": cycle,
                "fidelity": ranks[design_id]["fidelity"],
                "short_name": reply.short_name or population.row(design_id)["title"][:40],
                "key_insight": reply.key_insight,
                "success_level": reply.success_level,
                "detailed_analysis": reply.detailed_analysis,
                "comparison_to_references": reply.comparison_to_references,
                "recommended_next_steps": reply.recommended_next_steps,
                "reference_weights": json.dumps(weights.get(design_id, {}), sort_keys=True),
            }
        )
    learnt = (
        population.with_weights(weights)
        .with_design_values("key_insight", {row["design_id"]: row["key_insight"] for row in rows})
        .with_design_values("success_level", {row["design_id"]: row["success_level"] for row in rows})
    )
    return Analyses(rows, learnt, failures)


def _measured_design(
    population: Population,
    design_id: str,
    directions: Mapping[str, str],
    ranks: Mapping[str, Mapping[str, Any]],
    texts: Texts,
    settings: DesignsSettings,
) -> MeasuredDesign:
    row = population.row(design_id)
    edges = [(parent, weight) for child, parent, weight in population.edges() if child == design_id]
    experiments = population.experiment_rows([design_id])
    return MeasuredDesign(
        design_id=design_id[:SHORT_ID],
        title=row["title"],
        direction=directions.get(row["direction_id"] or "", ""),
        explanation=row["rationale"] or "",
        source=texts(row["source_sha"]),
        fidelity=reach(experiments)["fidelity"],
        results=level_results(experiments),
        rank=ranks[design_id]["rank"],
        ranked_designs=len(ranks),
        consensus=ranks[design_id]["consensus"],
        references=[detail(population, parent, texts, settings) for parent, _ in edges],
        reference_ranks={parent[:SHORT_ID]: ranks[parent]["rank"] for parent, _ in edges if parent in ranks},
        creation_weights=[
            ReferenceWeight(design_id=parent[:SHORT_ID], weight=weight) for parent, weight in edges
        ],
        against_parent=against_parent(population, design_id),
        scaling=scaling_text(design_id, experiments, sizes(settings, "high")[-1]),
        seconds=counted_seconds(experiments),
    )
