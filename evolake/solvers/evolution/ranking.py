"""Consensus of the objectives that vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.search.mcgs import SearchGraph
from evolake.solvers.evolution.population import Population
from evolake.solvers.objectives.consensus import rank_variants


@dataclass(frozen=True)
class Voting:
    """An objective that votes."""

    objective_id: str
    source: str


def voting(population: Population, new: pl.DataFrame) -> list[Voting]:
    """Return all objectives that are in force. new: the cycle's rows of OBJECTIVES, which hold where the
    population has others of the same id."""
    rows = {row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new.to_dicts()]}
    return [Voting(row["objective_id"], row["source"]) for row in rows.values() if row["state"] == "accepted"]


def rank(
    population: Population,
    new_objectives: pl.DataFrame,
    scores: pl.DataFrame,
    metrics: pl.DataFrame,
    derived: Sequence[Mapping[str, Any]],
    *,
    cycle: str,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of RANKING, best first, and the weights of the objectives."""
    objectives = {
        row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new_objectives.to_dicts()]
    }
    places, ranked = rank_variants(
        scores,
        {name: row["created_round"] for name, row in objectives.items()},
        int(cycle),
        {name: row["multiplier"] for name, row in objectives.items() if name in set(scores["objective_id"])},
    )
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    order = [item.variant_id for item in places]
    edges = [
        (row["parent_id"], row["child_id"], row["weight"])
        for row in [*population.derivations.to_dicts(), *derived]
    ]
    nodes = list(
        dict.fromkeys(
            [
                *population.variants["variant_id"].to_list(),
                *order,
                *(name for edge in edges for name in edge[:2]),
            ]
        )
    )
    bounds = {str(item.design_id): item for item in SearchGraph(nodes, edges).ucb(order)}
    rows = [
        {
            "variant_id": item.variant_id,
            "cycle": cycle,
            "rank": item.rank,
            "consensus": item.consensus,
            "visits": bounds[item.variant_id].visits,
            "ucb": bounds[item.variant_id].ucb,
            "solved": measured[item.variant_id]["solved"],
            "par2": measured[item.variant_id]["par2"],
            "wrong": measured[item.variant_id]["wrong"],
        }
        for item in places
    ]
    weights = [
        {
            "objective_id": str(name),
            "cycle": cycle,
            "weight": float(weight),
            "median_tau": float(tau),
            "family": objectives[str(name)]["family"],
            "description": objectives[str(name)]["description"],
        }
        for name, weight, tau in zip(
            ranked.objective_ids, ranked.result.weights, ranked.result.median_tau, strict=True
        )
    ]
    return rows, weights
