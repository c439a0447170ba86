"""The closing of a cycle: the meta review, the designers' analyses, the succession, and the population that enters the next cycle."""

from __future__ import annotations

import json
import platform
from typing import Any

import dagster as dg
import polars as pl

from assets.cycle import seal_cycle
from assets.designs import figures
from assets.designs.checks import GUARDS
from assets.designs.line import archive, line, publish_extra, publish_side, so_far, texts_of
from assets.designs.records import artifact
from assets.designs.scoring import consensus_from
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ANALYSES, DECISIONS, DESIGNS, DUELS, REVIEWS
from evolake.lake import AGENT_CALLS, ARTIFACTS, CHAMPIONS, EVALUATIONS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.lake import LakeResource

CERTIFICATE = "assignments checked on the clauses by the host"
ADDED = ("candidates", "experiments", "objectives", "promoted_experiments")


@line.asset(deps=["candidates", "experiments", "objectives", "promoted_experiments", "tuning"], schema=REVIEWS)
def meta_review(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, final_scores: pl.DataFrame, final_ranking: pl.DataFrame
) -> pl.DataFrame:
    """Every so many designs: what each objective is worth, by echo chambers, disagreement and discrimination. No rows in the cycles between."""
    from evolake.agents import read_guidance
    from evolake.designs.evolution.reviewing import review_portfolio

    cycle, settings = context.partition_key, lake.settings()
    before, population = archive(lake, cycle), so_far(lake, cycle, *ADDED).with_ranking(final_ranking.to_dicts())
    waiting = int(before.value("designs_since_review", 0)) + _accepted(lake, cycle)
    rows: list[dict[str, Any]] = []
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        if waiting >= settings.of(DesignsSettings).meta_review_every:
            notes = [note.text for note in read_guidance(lake.open().root, line.name, cycle)]
            done = review_portfolio(
                served, population, consensus_from(final_scores, population, cycle), settings=settings.of(DesignsSettings), cycle=cycle,
                root_seed=settings.seed, guidance=notes,
            )
            rows = done.rows
            if done.failure:
                context.log.warning(f"WARN: the meta reviewer gave no usable reply ({done.failure.reason}); multipliers stay")
        publish_side(lake.open(), "meta_review", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    phase = rows[0]["research_phase"] if rows else "no review"
    context.add_output_metadata({"designs_since_review": waiting, "reviewed": bool(rows), "phase": phase})
    return REVIEWS.frame(rows)


@line.asset(deps=["directions", "experiments", "objectives", "promoted_experiments"], schema=DESIGNS)
def survivors(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, compute: ComputeResource, candidates: pl.DataFrame,
    final_ranking: pl.DataFrame, tuning: pl.DataFrame, meta_review: pl.DataFrame,
) -> pl.DataFrame:
    """Who reigns after this cycle, and the archive that enters the next one. Seals it."""
    from evolake.designs.evolution.analysis import analyse_designs
    from evolake.designs.evolution.champion import decide_champion
    from evolake.designs.evolution.reviewing import crowned

    cycle, settings, store, run_id = context.partition_key, lake.settings(), lake.open(), context.run_id
    population = so_far(lake, cycle, *ADDED).with_ranking(final_ranking.to_dicts())
    fresh = [row["design_id"] for row in candidates.to_dicts() if row["state"] == "accepted"]
    if not fresh:
        context.log.warning(f"WARN: no candidate of cycle {cycle} passed the gates; the designs before it go on")
    directions = {row["direction_id"]: row["direction"] for row in store.read(line.name, "directions", cycle).to_dicts()}
    with agents.open(lake, cycle, run_id, line=line.name) as served:
        learnt = analyse_designs(served, population, fresh, directions, texts_of(lake), cycle=cycle, root_seed=settings.seed)
        publish_side(store, "survivors", AGENT_CALLS, served.rows(), cycle=cycle, run_id=run_id)
    order = final_ranking.sort("rank")["design_id"].to_list()
    succession = decide_champion(
        *(_contender(lake, population, design_id) for design_id in _duel(population, order)), executor=compute.executor(),
        settings=settings.of(DesignsSettings), cycle=cycle, profile=settings.profile, root_seed=settings.seed,
    )
    population = crowned(learnt.population, succession, cycle=cycle, new_designs=len(fresh))
    closed = _closed(lake, cycle, population, tuning, meta_review)
    publish_extra(store, "analyses", ANALYSES, learnt.rows, context=context)
    publish_extra(store, "champion_trials", DUELS, succession.trials, context=context)
    publish_extra(store, "champion_decisions", DECISIONS, succession.decisions, context=context)
    _publish_lineage(store, closed, succession, cycle, run_id)
    sealed = seal_cycle(context, lake, line, cycle, closed.frames(), guarded_by=GUARDS, population="designs")
    champion = closed.design(succession.champion_id)
    told = {"champion": champion["title"], "champion_id": champion["design_id"], "accepted_this_cycle": len(fresh)}
    told |= {f"against_{row['comparison']}": row["reason"] for row in succession.decisions}
    context.add_output_metadata(sealed.metadata() | told | figures.of_designs(closed))
    return closed.designs_in("accepted", "champion")


def _accepted(lake: LakeResource, cycle: str) -> int:
    """Candidates of this cycle that passed their gates."""
    return lake.open().read(line.name, "candidates", cycle).filter(pl.col("state") == "accepted").height


def _duel(population: Any, order: list[str]) -> tuple[str, str, str]:
    """Challenger (first by consensus), incumbent (the reigning design, or the baseline), baseline (the seed of that name, or the first seed)."""
    seeds = population.designs.filter((pl.col("origin") == "seed") & (pl.col("state") != "blocked")).sort("title")
    named = seeds.filter(pl.col("title") == "baseline")["design_id"].to_list()
    baseline = (named or seeds["design_id"].to_list() or order)[0]
    return order[0], population.champion_id() or baseline, baseline


def _contender(lake: LakeResource, population: Any, design_id: str) -> Any:
    from evolake.designs.evolution.champion import Contender
    from evolake.designs.evolution.line_state import reach

    solved = reach(population.experiment_rows([design_id]))["largest_solved"]
    return Contender(design_id, texts_of(lake)(population.design(design_id)["traced_sha"]), solved)


def _closed(lake: LakeResource, cycle: str, population: Any, tuning: pl.DataFrame, review: pl.DataFrame) -> Any:
    """The archive as it enters the next cycle: tuned copies in, multipliers set, and kept as values what the next cycle must know."""
    from evolake.designs.evolution.merge import pending_merges
    from evolake.designs.evolution.reviewing import reviewed
    from evolake.lake import DERIVATIONS, side_table

    store, before = lake.open(), archive(lake, cycle)
    derived = store.read(line.name, side_table("tuning", DERIVATIONS), cycle).to_dicts()
    population = population.admit(store.read(line.name, "tuned_designs", cycle).to_dicts(), derived)
    values: dict[str, Any] = {
        "tuning_tried": sorted({*before.value("tuning_tried", []), *tuning["design_id"].to_list()}),
        "merged_bundles": sorted({*before.value("merged_bundles", []), *(row["bundle_id"] for row in pending_merges(store, before, cycle))}),
    }
    return reviewed(population, review.to_dicts()).with_values(**values)


def _publish_lineage(store: Any, population: Any, succession: Any, cycle: str, run_id: str) -> None:
    """The champion and the runs it was decided on, as rows of the shared tables."""
    champion = population.design(succession.champion_id)
    ranks = {row["design_id"]: row["consensus"] for row in population.ranking.to_dicts()}
    score = ranks.get(succession.champion_id)
    row = {"line": line.name, "cycle": cycle, "artifact_id": succession.champion_id, "score": score}
    publish_side(store, "survivors", CHAMPIONS, [row], cycle=cycle, run_id=run_id)
    crowned = artifact(succession.champion_id, "design", cycle, "champion", champion["source_sha"], champion["title"], run_id)
    publish_side(store, "survivors", ARTIFACTS, [crowned], cycle=cycle, run_id=run_id)
    evaluations = [
        {
            "artifact_id": trial["design_id"], "suite": f"{trial['part']}-{trial['profile']}-N{trial['N']}", "instance": f"planted-{trial['seed']}",
            "seed": trial["seed"], "status": "solved" if trial["solved"] else "unsolved", "cpu_s": trial["cpu_s"], "wall_s": trial["wall_s"],
            "peak_mb": None, "counters": json.dumps({"median_step": trial["median_step"], "steps_run": trial["steps_run"]}),
            "certificate": CERTIFICATE if trial["solved"] else None, "host": platform.node(),
        }
        for trial in succession.trials
    ]
    publish_side(store, "survivors", EVALUATIONS, evaluations, cycle=cycle, run_id=run_id)
