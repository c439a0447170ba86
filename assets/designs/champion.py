"""Select the champion of a cycle, and publish it with the runs that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DECISIONS, DUELS
from evolake.lake import EVALUATIONS
from resources.compute import ComputeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.champion import Succession
    from evolake.designs.evolution.population import Population


def duel_for_champion(store: LineStore, compute: ComputeResource, population: Population, final_ranking: pl.DataFrame) -> Succession:
    """Return the champion after the duel of the consensus' first design with the one that is."""
    from evolake.designs.evolution.champion import contenders, decide_champion

    order = final_ranking.sort("rank")["design_id"].to_list()
    return decide_champion(
        *contenders(population, order, store.text), executor=compute.executor(), settings=store.settings.of(DesignsSettings),
        profile=store.settings.profile, cycle_seeds=store.seeds,
    )


def publish_champion(store: LineStore, population: Population, succession: Succession) -> None:
    """Publish the duel, the champion, and the runs that it was decided on, as rows of the shared tables."""
    from evolake.designs.evolution.champion import evaluation_rows

    store.extra(DUELS, succession.trials, "champion_trials")
    store.extra(DECISIONS, succession.decisions, "champion_decisions")
    scores = {row["design_id"]: row["consensus"] for row in population.ranking.to_dicts()}
    store.champion(succession.champion_id, scores.get(succession.champion_id))
    store.artifacts([population.row(succession.champion_id) | {"cycle": store.cycle}], "champion")
    store.side(EVALUATIONS, evaluation_rows(succession.trials))
