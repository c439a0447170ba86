"""The state of each design: consensus rank, visits and upper confidence bound, rebuilt each cycle from the
current consensus.

A design that has no place yet (a seed of the first cycle, a design merged from another lake) is last by rank
and first by bound: nothing is known against it, and the planner should look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.designs.evolution.population import Population
from evolake.designs.evolution.schedule import FIDELITIES, is_solved, latest_levels
from evolake.designs.work.rows import median_work
from evolake.search.mcgs import SearchGraph

UNKNOWN_BOUND = 1.0


def standings(population: Population) -> list[dict[str, Any]]:
    """Return rows like those of RANKING for every live design, best rank first."""
    live = set(population.live_ids())
    rows = [row for row in population.ranking.sort("rank").to_dicts() if row["design_id"] in live]
    placed = {row["design_id"] for row in rows}
    bound = max([UNKNOWN_BOUND, *(row["ucb"] for row in rows)])
    for row in rows:
        row.pop("cycle", None)
    for design_id in population.live_ids():
        if design_id not in placed:
            rows.append(
                {
                    "design_id": design_id,
                    "rank": len(rows) + 1,
                    "consensus": 1.0,
                    "visits": 0.0,
                    "ucb": bound,
                    **reach(population.experiment_rows([design_id])),
                }
            )
    return rows


def reach(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return largest size solved, the median steps and work there, and the highest fidelity run."""
    levels = latest_levels(rows)
    solved = [row for row in levels if is_solved(row)]
    ran = {row["fidelity"] for row in rows}
    return {
        "largest_solved": int(solved[-1]["N"]) if solved else 0,
        "median_step": int(solved[-1]["median_step"]) if solved else None,
        "median_work": median_work(solved[-1]) if solved else None,
        "fidelity": next((fidelity for fidelity in reversed(FIDELITIES) if fidelity in ran), "none"),
    }


def rank_designs(
    population: Population, consensus: Mapping[str, float], order: Sequence[str], cycle: str
) -> list[dict[str, Any]]:
    """Return rows of RANKING.

    Args:
        consensus: design id -> consensus score, 0 is best. order: design ids, best first (the consensus' own
            total order).
    """
    nodes = population.designs["design_id"].to_list()
    graph = SearchGraph(nodes, [(parent, child, weight) for child, parent, weight in population.edges()])
    places = {design_id: place for place, design_id in enumerate(order)}
    by_design: dict[str, list[dict[str, Any]]] = {}
    for row in population.experiment_rows(list(order)):
        by_design.setdefault(row["design_id"], []).append(row)
    rows = [
        {
            "design_id": result.design_id,
            "cycle": cycle,
            "rank": places[str(result.design_id)] + 1,
            "consensus": float(consensus[str(result.design_id)]),
            "visits": result.visits,
            "ucb": result.ucb,
            **reach(by_design.get(str(result.design_id), [])),
        }
        for result in graph.ucb(order)
    ]
    return sorted(rows, key=lambda row: row["rank"])
