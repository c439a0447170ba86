"""Scores and consensus of a population: what both rankings of a cycle, the promotion and the tuning share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.designs.tables import SCORES

if TYPE_CHECKING:
    from evolake.designs.evolution.population import Population
    from evolake.objectives.long_consensus import LongConsensus
    from evolake.objectives.score import Objective, ScoreRow


def live_objectives(population: Population) -> list[Objective]:
    """Return the objectives that score: accepted ones, in the order they came."""
    from evolake.objectives.score import Objective

    live = population.objectives.filter(population.objectives["state"] == "accepted")
    return [Objective(row["objective_id"], row["source"]) for row in live.to_dicts()]


def score_rows(
    pool: Any, population: Any, objectives: Sequence[Any], cycle: str, fidelity: str
) -> list[dict[str, Any]]:
    """Return rows of SCORES: every objective on every live design, in the jail.

    Designs that ran on uniform formulas as well get the score of their worse place over the two kinds
    (`worse_over_kinds`).
    """
    from evolake.objectives.score import score_all

    uniform = {design_id: results for design_id, results in population.results("uniform").items() if results}
    rows = score_all(objectives, population.results(), pool)
    if uniform:
        rows = worse_over_kinds(rows, score_all(objectives, uniform, pool))

    return [
        {
            "objective_id": row.objective_id,
            "design_id": row.design_id,
            "cycle": cycle,
            "fidelity": fidelity,
            "score": row.score,
            "status": row.status,
            "reason": row.reason,
        }
        for row in rows
    ]


def worse_over_kinds(planted: Sequence[ScoreRow], uniform: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Return the scores on planted formulas; of a design whose place on uniform ones is worse, the score that
    this place has among the planted.

    Scores of two kinds have no common scale, places have: the first of ten on one is as good as the first of
    ten on the other. Scores keep the scale of planted formulas, on which designs that did not run on uniform
    ones stay comparable. What is missing on uniform formulas has the last place.
    """
    result: dict[tuple[str, str], ScoreRow] = {(row.objective_id, row.design_id): row for row in planted}
    for name in dict.fromkeys(row.objective_id for row in uniform):
        of_uniform = {
            row.design_id: math.inf if row.score is None else row.score
            for row in uniform
            if row.objective_id == name
        }
        both = [
            row.score
            for row in planted
            if row.objective_id == name and row.design_id in of_uniform and row.score is not None
        ]
        ladder, places = sorted(both), sorted(of_uniform.values())
        for design_id, score in of_uniform.items():
            row = result.get((name, design_id))
            if row is None or row.score is None or not ladder:
                continue
            better = len(ladder) - 1 if score == math.inf else places.index(score)
            at = ladder[min(better, len(ladder) - 1)]
            if at > row.score:
                result[name, design_id] = replace(row, score=at)
    return list(result.values())


def consensus_from(scores: pl.DataFrame, population: Any, cycle: str) -> LongConsensus:
    """Return the consensus of a table of scores, with the rounds and multipliers of the population's
    objectives. The round is the cycle's number."""
    from evolake.objectives.long_consensus import rank_long

    rows = population.objectives.to_dicts()
    voting = set(scores["objective_id"].to_list())
    return rank_long(
        scores.select("objective_id", "design_id", "score"),
        {row["objective_id"]: row["created_round"] for row in rows},
        int(cycle),
        multipliers={row["objective_id"]: row["multiplier"] for row in rows if row["objective_id"] in voting},
    )


def consensus_of(pool: Any, population: Any, cycle: str, fidelity: str) -> LongConsensus:
    """Return scores and consensus in one go, where the scores are not kept."""
    return consensus_from(
        SCORES.frame(score_rows(pool, population, live_objectives(population), cycle, fidelity)),
        population,
        cycle,
    )


def ranking_rows(ranked: LongConsensus, population: Any, cycle: str) -> list[dict[str, Any]]:
    """Return rows of RANKING."""
    from evolake.designs.evolution.line_state import rank_designs

    consensus = {
        str(name): float(value)
        for name, value in zip(ranked.design_ids, ranked.result.consensus, strict=True)
    }
    return rank_designs(population, consensus, [str(name) for name in ranked.order], cycle)


def weight_rows(ranked: LongConsensus, population: Any, cycle: str, stage: str) -> list[dict[str, Any]]:
    """Return one row per objective: its weight, its median tau, its multiplier, as they made the ranking of
    `stage`."""
    known = {row["objective_id"]: row for row in population.objectives.to_dicts()}
    return [
        row | {"stage": stage, "multiplier": known[row["objective_id"]]["multiplier"]}
        for row in ranked.weight_rows(cycle, known)
    ]
