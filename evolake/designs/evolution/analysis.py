"""The designer's last turn in a cycle: what the results of each new design say, and how much each reference
shaped it (paper, section S5.2).

The weights of the analysis replace those stated at creation in the archive, which the graph search reads; the
lake's own derivations keep what was stated when the design was made. The operators state the same both times.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.designs.evolution.attempts import against_parent, contest_outcomes, counted_seconds, scaling_text
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.planning import detail, level_results, short_ids
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import shares
from evolake.designs.evolution.schedule import sizes
from evolake.designs.roles.designer import ANALYSIS_ROLE
from evolake.designs.roles.models import SHORT_ID, AnalysisRequest, MeasuredDesign, ReferenceWeight
from evolake.designs.settings import DesignsSettings
from evolake.seeds import child_seed

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
