"""Objectives, their scores, and the consensus; once after low fidelity, once after the promoted experiments."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from assets.designs import figures
from assets.designs.line import line, publish_extra, publish_side, rules, so_far
from assets.designs.records import artifact
from assets.designs.scoring import consensus_from, ranking_rows, score_rows, weight_rows
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import OBJECTIVES, RANKING, SCORES
from evolake.lake import AGENT_CALLS, ARTIFACTS, VERDICTS, TableSchema
from resources.agents import AgentsResource
from resources.jail import JailResource
from resources.lake import LakeResource

WEIGHTS = TableSchema(
    "consensus_weights", 1,
    {
        "objective_id": pl.String, "cycle": pl.String, "stage": pl.String, "weight": pl.Float64, "median_tau": pl.Float64, "multiplier": pl.Float64,
        "family": pl.String, "description": pl.String,
    },
    keys=("objective_id", "stage"),
)


@line.asset(deps=["candidates", rules], schema=OBJECTIVES, kinds={"python", "bubblewrap"})
def objectives(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, jail: JailResource, experiments: pl.DataFrame
) -> pl.DataFrame:
    """New objectives of this cycle, each tried in the jail on the results at hand. The first cycle draws the portfolio that the line starts with."""
    from evolake.designs.evolution.judging_objectives import judge_objective
    from evolake.designs.evolution.objective_writing import Objective, initial_objectives, write_objectives
    from evolake.gates import load_rules

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    population = so_far(lake, cycle, "candidates", "experiments")
    failures = 0
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        if population.objectives.is_empty():
            rows = initial_objectives(settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed)
        else:
            written = write_objectives(
                served, population, jail.open(), settings=settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed, origin=settings.backend
            )
            rows, failures = written.rows, len(written.failures)
        publish_side(store, "objectives", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    ruleset = load_rules(settings.seeds / "rules", line.name)
    measured = {design_id for design_id, results in population.results().items() if results}
    scores = score_rows(jail.open(), population, [Objective(row["objective_id"], row["source"]) for row in rows], cycle, "low")
    verdicts = []
    for row in rows:
        own = [score for score in scores if score["objective_id"] == row["objective_id"] and score["design_id"] in measured]
        judged = judge_objective(row["objective_id"], own, ruleset=ruleset, cycle=cycle, run_id=context.run_id)
        verdicts += judged
        if judged[-1].outcome != "pass":
            row |= {"state": "blocked", "reason": judged[-1].reason}
    shas = [store.blobs.put(row["source"].encode()) for row in rows]
    artifacts = [
        artifact(row["objective_id"], "objective", cycle, row["state"], sha, row["description"], context.run_id)
        for row, sha in zip(rows, shas, strict=True)
    ]
    publish_side(store, "objectives", ARTIFACTS, artifacts, cycle=cycle, run_id=context.run_id)
    publish_side(store, "objectives", VERDICTS, [verdict.row() for verdict in verdicts], cycle=cycle, run_id=context.run_id)
    context.add_output_metadata({
        "accepted": sum(row["state"] == "accepted" for row in rows), "blocked": sum(row["state"] == "blocked" for row in rows),
        "failed_calls": failures, "backend": settings.backend, "measured_designs": experiments["design_id"].n_unique(),
    })
    return OBJECTIVES.frame(rows)


@line.asset(deps=["candidates", "experiments"], schema=SCORES, kinds={"bubblewrap"})
def objective_scores(context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource, objectives: pl.DataFrame) -> pl.DataFrame:
    """Every objective on every live design, with the low-fidelity results of this cycle. A missing score counts as worst."""
    population = so_far(lake, context.partition_key, "candidates", "experiments", "objectives")
    return _scores(context, jail, population, "low", {"new_objectives": objectives.height})


@line.asset(deps=["candidates", "experiments", "objectives"], schema=RANKING)
def consensus_ranking(context: dg.AssetExecutionContext, lake: LakeResource, objective_scores: pl.DataFrame) -> pl.DataFrame:
    """The consensus after low fidelity: who is promoted follows from it."""
    population = so_far(lake, context.partition_key, "candidates", "experiments", "objectives")
    return _ranking(context, lake, population, objective_scores, "consensus_ranking")


@line.asset(deps=["candidates", "experiments", "objectives"], schema=SCORES, kinds={"bubblewrap"})
def final_scores(context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource, promoted_experiments: pl.DataFrame) -> pl.DataFrame:
    """Every objective on every live design, with the promoted experiments."""
    population = so_far(lake, context.partition_key, "candidates", "experiments", "objectives", "promoted_experiments")
    return _scores(context, jail, population, "high", {"promoted_rows": promoted_experiments.height})


@line.asset(deps=["candidates", "experiments", "objectives", "promoted_experiments"], schema=RANKING)
def final_ranking(context: dg.AssetExecutionContext, lake: LakeResource, final_scores: pl.DataFrame) -> pl.DataFrame:
    """The consensus of the cycle. Its first design challenges the champion."""
    population = so_far(lake, context.partition_key, "candidates", "experiments", "objectives", "promoted_experiments")
    return _ranking(context, lake, population, final_scores, "final_ranking")


def _scores(context: dg.AssetExecutionContext, jail: JailResource, population: Any, fidelity: str, more: dict[str, Any]) -> pl.DataFrame:
    from evolake.designs.evolution.objective_writing import live_objectives

    voting = live_objectives(population)
    if not voting:
        raise dg.Failure(
            "no objective is left to judge the designs: every one was blocked. See why: "
            "evolake sql \"SELECT * FROM verdicts WHERE gate = 'objective'\"",
            allow_retries=False,
        )
    rows = score_rows(jail.open(), population, voting, context.partition_key, fidelity)
    context.add_output_metadata(more | {"objectives": len(voting), "missing_scores": sum(row["score"] is None for row in rows)})
    return SCORES.frame(rows)


def _ranking(context: dg.AssetExecutionContext, lake: LakeResource, population: Any, scores: pl.DataFrame, stage: str) -> pl.DataFrame:
    cycle = context.partition_key
    ranked = consensus_from(scores, population, cycle)
    frame = RANKING.frame(ranking_rows(ranked, population, cycle))
    publish_extra(lake.open(), f"{stage}_weights", WEIGHTS, weight_rows(ranked, population, cycle, stage), context=context)
    first = population.design(str(ranked.order[0]))
    context.add_output_metadata({"first": first["title"], "first_id": first["design_id"]} | figures.of_consensus(ranked, population))
    return frame
