"""The closing of a cycle: the meta review, the designers' analyses, the succession, and the population that
enters the next cycle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.designs.champion import ablate_champion, duel_for_champion, publish_champion
from assets.designs.checks import GUARDS
from assets.designs.line import archive, line, so_far
from assets.designs.pace import pace_of
from assets.designs.records import arrived_bundles
from assets.pictures import figures_of
from assets.store import LineStore
from evolake.designs.evolution.scoring import consensus_from
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ANALYSES, DESIGNS, REVIEWS
from evolake.lake import DERIVATIONS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.population import Population

ADDED = ("candidates", "experiments", "objectives", "promoted_experiments")


@line.asset(
    deps=["candidates", "experiments", "objectives", "promoted_experiments", "tuning"], schema=REVIEWS
)
def meta_review(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    final_scores: pl.DataFrame,
    final_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Every so many designs: what each objective is worth, by echo chambers, disagreement and discrimination.
    No rows in the cycles between."""
    from evolake.designs.evolution.reviewing import review_portfolio

    store = LineStore(line, context, lake)
    cycle, settings = store.cycle, store.settings
    before, population = archive(store), so_far(store, *ADDED).with_ranking(final_ranking.to_dicts())
    waiting = (
        int(before.value("designs_since_review", 0))
        + store.read("candidates").filter(pl.col("state") == "accepted").height
    )
    rows: list[dict[str, Any]] = []
    with store.roles(agents) as served:
        if waiting >= settings.of(DesignsSettings).meta_review_every:
            done = review_portfolio(
                served,
                population,
                consensus_from(final_scores, population, cycle),
                settings=settings.of(DesignsSettings),
                cycle=cycle,
                root_seed=settings.seed,
                guidance=store.guidance(),
            )
            rows = done.rows
            if done.failure:
                store.warn(
                    f"the meta reviewer gave no usable reply ({done.failure.reason}); multipliers stay"
                )
    phase = rows[0]["research_phase"] if rows else "no review"
    store.tell({"designs_since_review": waiting, "reviewed": bool(rows), "phase": phase})
    return REVIEWS.frame(rows)


@line.asset(deps=["directions", "experiments", "objectives", "promoted_experiments"], schema=DESIGNS)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    compute: ComputeResource,
    jail: JailResource,
    candidates: pl.DataFrame,
    final_ranking: pl.DataFrame,
    tuning: pl.DataFrame,
    meta_review: pl.DataFrame,
) -> pl.DataFrame:
    """Choose the champion after this cycle, and the archive that enters the next one. Seals it."""
    from evolake.designs.evolution.attempts import consensus_winner
    from evolake.designs.evolution.reviewing import analyse_designs, with_champion, with_notes
    from evolake.designs.report.material import FIGURES, Material

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    population = so_far(store, *ADDED).with_ranking(final_ranking.to_dicts())
    fresh = [row["design_id"] for row in candidates.to_dicts() if row["state"] == "accepted"]
    if not fresh:
        store.warn(f"no candidate of cycle {cycle} passed the gates; the earlier designs stay")
    directions = {row["direction_id"]: row["direction"] for row in store.rows("directions")}
    succession = duel_for_champion(store, compute, population, final_ranking)
    ablate_champion(store, compute, jail, population, succession.champion_id)
    population = with_champion(population, succession, cycle=cycle, new_designs=len(fresh))
    first = consensus_winner(
        population, final_ranking.to_dicts(), succession.decisions, succession.champion_id
    )
    population = with_notes(population, first, store.rows("unmade"))
    with store.roles(agents) as served:
        learnt = analyse_designs(
            served,
            population,
            fresh,
            directions,
            store.text,
            settings=settings.of(DesignsSettings),
            cycle=cycle,
            root_seed=settings.seed,
        )
    closed = _closed(store, learnt.population, tuning, meta_review)
    store.extra(ANALYSES, learnt.rows, "analyses")
    publish_champion(store, closed, succession)
    sealed = store.seal(closed.frames(), GUARDS, survivors="designs")
    champion = closed.row(succession.champion_id)
    details = {
        "champion": champion["title"],
        "champion_id": champion["design_id"],
        "accepted_this_cycle": len(fresh),
    }
    details |= {
        "first_by_consensus": first.title,
        "first_by_consensus_id": first.design_id,
        "consensus_and_champion": first.reason,
    }
    pace = pace_of(
        store,
        proposed(store, candidates),
        sum(trial["cpu_s"] for trial in succession.trials),
        time.time(),
        compute.workers_at_work,
    )
    details |= pace.metadata() if pace is not None else {}
    details |= {f"against_{row['comparison']}": row["reason"] for row in succession.decisions}
    store.tell(sealed.metadata() | details | figures_of(FIGURES, Material(closed), "survivors"))
    return closed.designs_in("accepted", "champion")


def proposed(store: LineStore, candidates: pl.DataFrame) -> int:
    """Return the number of designs that were proposed in the cycle: its candidates, and what raced and did
    not become one."""
    raced = store.read("raced") if store.has("raced") else None
    return candidates.height + (
        0 if raced is None else raced.filter(pl.col("state").is_in(["raced", "blocked"])).height
    )


def _closed(
    store: LineStore, population: Population, tuning: pl.DataFrame, review: pl.DataFrame
) -> Population:
    """Return the archive as it enters the next cycle: tuned copies in, multipliers set, and kept as values
    what the next cycle must know.

    Of merges and imports only what this cycle's opening took in counts: one that came since is the next
    cycle's.
    """
    from evolake.designs.evolution.attempts import KEPT_TUNINGS, tuning_note
    from evolake.designs.evolution.importing import taken_in
    from evolake.designs.evolution.merge import entered_merges
    from evolake.designs.evolution.reviewing import reviewed

    before = archive(store)
    merged = entered_merges(store.lake, before, so_far(store), store.cycle)
    population = population.admit(store.rows("tuned_designs"), store.rows("tuning", DERIVATIONS))
    values: dict[str, Any] = {
        "tuning_tried": sorted({*before.value("tuning_tried", []), *tuning["design_id"].to_list()}),
        "merged_bundles": sorted({*before.value("merged_bundles", []), *merged}),
    }
    if note := tuning_note(population, tuning.sort("trial").to_dicts()):
        values["tunings"] = [*before.value("tunings", []), note][-KEPT_TUNINGS:]
    if imported := taken_in(before, arrived_bundles(store)):
        values["imported_bundles"] = imported
    return reviewed(population, review.to_dicts()).with_values(**values)
