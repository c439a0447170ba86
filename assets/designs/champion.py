"""Select the champion of a cycle, and publish it with the runs that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assets.designs.line import jails
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ABLATIONS, DECISIONS, DUELS
from evolake.lake import EVALUATIONS
from resources.compute import ComputeResource
from resources.jail import JailResource

if TYPE_CHECKING:
    from evolake.designs.evolution.design_contest import Succession
    from evolake.designs.evolution.population import Population


def duel_for_champion(
    store: LineStore, compute: ComputeResource, population: Population, final_ranking: pl.DataFrame
) -> Succession:
    """Return the champion after the duel of the consensus' first design with the one that is."""
    from evolake.designs.evolution.design_contest import contenders, decide_champion

    order = final_ranking.sort("rank")["design_id"].to_list()
    contest = store.contest(population.designs["design_id"])
    store.reveal(contest)
    return decide_champion(
        *contenders(population, order, store.text),
        executor=compute.executor(),
        settings=store.settings.of(DesignsSettings),
        profile=store.settings.profile,
        cycle_seeds=contest,
    )


def ablate_champion(
    store: LineStore, compute: ComputeResource, jail: JailResource, population: Population, champion_id: str
) -> None:
    """Publish what each term of a new champion does on each kind of formulas; nothing of one that was
    champion before, or has no genome."""
    from evolake.designs.evolution.ablation import ablation_levels, ablation_rows, traced_ablations
    from evolake.designs.evolution.breeding import CORE_TIMES
    from evolake.designs.genome.open_ablation import ablations
    from evolake.designs.genome.open_genome import read_genome

    settings, row = store.settings.of(DesignsSettings), population.row(champion_id)
    genome = read_genome(row["genome"]) if row["genome"] else None
    if settings.ablation_n == 0 or champion_id == population.champion_id or genome is None:
        store.extra(ABLATIONS, [])
        return
    without = traced_ablations(ablations(genome), jails(jail))
    levels = ablation_levels(settings, store.cycle, store.settings.seed)
    rows = ablation_rows(
        champion_id,
        store.text(row["traced_sha"]),
        without,
        compute.executor(),
        levels,
        store.cycle,
        CORE_TIMES * settings.low.core_s,
    )
    store.extra(ABLATIONS, rows)


def publish_champion(store: LineStore, population: Population, succession: Succession) -> None:
    """Publish the duel, the champion, and the runs that it was decided on, as rows of the shared tables."""
    from evolake.designs.evolution.design_contest import evaluation_rows

    store.extra(DUELS, succession.trials, "champion_trials")
    store.extra(DECISIONS, succession.decisions, "champion_decisions")
    scores = {row["design_id"]: row["consensus"] for row in population.ranking.to_dicts()}
    store.champion(succession.champion_id, scores.get(succession.champion_id))
    store.artifacts([population.row(succession.champion_id) | {"cycle": store.cycle}], "champion")
    store.side(EVALUATIONS, evaluation_rows(succession.trials))
