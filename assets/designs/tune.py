"""Tuning: when too few designs are tuned, trials on the parameters of the best one that is not, against the
consensus."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.designs.line import gates, jails, line, so_far
from assets.designs.records import record_candidates
from assets.store import LineStore
from evolake.designs.evolution.scoring import consensus_from
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DESIGNS, TUNING
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource


@line.asset(
    deps=["candidates", "experiments", "objectives", "promoted_experiments"], schema=TUNING, kinds={"optuna"}
)
def tuning(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    jail: JailResource,
    compute: ComputeResource,
    final_scores: pl.DataFrame,
    final_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """One row per trial; trial 0 is the design as it is. A copy that beats it is a new design with one
    parent, judged by the same gates."""
    from evolake.designs.evolution.scoring import live_objectives
    from evolake.designs.evolution.tuning import (
        Tuner,
        consensus_estimate,
        should_tune,
        tune_design,
        tuning_target,
    )
    from evolake.objectives.score import score_all

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    population = so_far(store, "candidates", "experiments", "objectives", "promoted_experiments")
    wanted = should_tune(population, settings.of(DesignsSettings))
    target = tuning_target(population, final_ranking.sort("rank")["design_id"].to_list()) if wanted else None
    rows, candidates, cpu_s, largest_n, reason = (
        [],
        [],
        0.0,
        0,
        "enough designs are tuned, or there is none left to tune",
    )
    if target is not None:
        pool = jails(jail)
        voting = live_objectives(population)
        estimate = consensus_estimate(
            consensus_from(final_scores, population, cycle), lambda results: score_all(voting, results, pool)
        )
        tuner = Tuner(
            estimate, pool, gates(store, pool), compute.executor(), population.graphs(), settings.profile
        )
        tuned = tune_design(
            tuner,
            population.parent(target, store.text),
            settings=settings.of(DesignsSettings),
            cycle_seeds=store.seeds,
            measured=population.experiment_rows([target]),
        )
        rows, reason, cpu_s, largest_n = tuned.rows, tuned.reason, tuned.cpu_s, tuned.largest_n
        candidates = [tuned.candidate] if tuned.candidate is not None else []
    designs = record_candidates(store, candidates, tuned=True)
    store.extra(DESIGNS, designs, "tuned_designs")
    store.tell(
        {
            "target": target or "none",
            "tuned_copies": len(designs),
            "reason": reason,
            "cpu_s": round(cpu_s, 2),
            "largest_n": largest_n,
        }
    )
    return TUNING.frame(rows)
