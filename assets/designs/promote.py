"""Those that continue to medium and high fidelity, and the consensus once more, with what that showed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from assets.designs.line import jails, line, so_far
from assets.designs.measure import run_fidelity, run_metadata
from assets.designs.rank import ranked_by, scored
from assets.store import LineStore
from evolake.designs.evolution.scoring import consensus_of
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import EXPERIMENTS, EXTRAPOLATIONS, RANKING, SCORES
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.population import Population


@line.asset(deps=["experiments", "objectives", "candidates"], schema=EXPERIMENTS, kinds={"torch"})
def promoted_experiments(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    jail: JailResource,
    consensus_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Medium fidelity for the better half, then, ranked again with those results, high for the best tenth: by
    consensus rank or by scaling."""
    from evolake.designs.evolution.extrapolation import chosen

    store = LineStore(line, context, lake, compute)
    settings = store.settings.of(DesignsSettings)
    population = so_far(store, "candidates", "experiments", "objectives")
    order = consensus_ranking.sort("rank")["design_id"].to_list()
    going, expected = chosen(order, population.experiment_rows(), "medium", settings, store.cycle)
    medium = run_fidelity(store, compute, population, _new_at(population, going, "medium"), "medium")
    population = population.add(experiments=medium)
    order = [str(name) for name in consensus_of(jails(jail), population, store.cycle, "medium").order]
    going, expected_high = chosen(order, population.experiment_rows(), "high", settings, store.cycle)
    high = run_fidelity(store, compute, population, _new_at(population, going, "high"), "high")
    store.extra(EXTRAPOLATIONS, expected + expected_high, "extrapolations")
    rows = medium + high
    store.tell(
        run_metadata(rows, store.settings.profile)
        | {"medium_rows": len(medium), "high_rows": len(high), "promotion": settings.promotion}
    )
    return EXPERIMENTS.frame(rows)


@line.asset(deps=["candidates", "experiments", "objectives"], schema=SCORES, kinds={"bubblewrap"})
def final_scores(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    jail: JailResource,
    promoted_experiments: pl.DataFrame,
) -> pl.DataFrame:
    """Every objective on every live design, with the promoted experiments."""
    store = LineStore(line, context, lake)
    population = so_far(store, "candidates", "experiments", "objectives", "promoted_experiments")
    return scored(store, jail, population, "high", {"promoted_rows": promoted_experiments.height})


@line.asset(deps=["candidates", "experiments", "objectives", "promoted_experiments"], schema=RANKING)
def final_ranking(
    context: dg.AssetExecutionContext, lake: LakeResource, final_scores: pl.DataFrame
) -> pl.DataFrame:
    """Compute the consensus of the cycle. Its first design challenges the champion."""
    store = LineStore(line, context, lake)
    return ranked_by(
        store, so_far(store, "candidates", "experiments", "objectives", "promoted_experiments"), final_scores
    )


def _new_at(population: Population, ids: Sequence[str], fidelity: str) -> list[str]:
    """Return those of `ids` that have no row at this fidelity: what was measured stays measured."""
    there = set(population.experiments.filter(pl.col("fidelity") == fidelity)["design_id"].to_list())
    return [design_id for design_id in ids if design_id not in there]
