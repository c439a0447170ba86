"""The closing of a cycle: what was learnt from failures, who lives on, and the population that enters the next cycle."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import seal_cycle
from assets.families.checks import GUARDS
from assets.families.judge import passed_before, settled, verdict_rows
from assets.families.line import archive, artifact_rows, line, open_roles, publish_extra, publish_side, rules_in_force
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import EXPERIENCE, FAILURES, FAMILIES
from evolake.lake import AGENT_CALLS, ARTIFACTS, DERIVATIONS, side_table
from resources.lake import LakeResource


@line.asset(deps=["execution", "quality", "consensus_labels", "blind_reviews"], schema=EXPERIENCE)
def experience(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame, funnel: pl.DataFrame) -> pl.DataFrame:
    """One-sentence lessons from what was blocked, curated and capped: the next cycle's requests show them."""
    from evolake.families.evolution.failure_rows import failure_rows, observations
    from evolake.families.evolution.proposing import learn
    from evolake.families.evolution.stages import gates_of

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    population = archive(lake, cycle)
    failures = observations(gates_of(verdict_rows(store, cycle)), store.blobs)
    with open_roles(lake, cycle, context.run_id) as agents:
        items = learn(agents, population.lessons(), failures, settings=settings.of(FamiliesSettings), cycle=cycle, root_seed=settings.seed)
        publish_side(store, "experience", AGENT_CALLS, agents.rows(), cycle=cycle, run_id=context.run_id)
    publish_extra(store, FAILURES, failure_rows(failures, cycle), context=context)
    kinds = [item.kind for item in failures]
    context.add_output_metadata({"items": len(items), "blocked": len(failures)} | {kind: kinds.count(kind) for kind in sorted(set(kinds))})
    return population.with_experience(items, cycle).experience


@line.asset(deps=["execution", "quality", "consensus_labels", "blind_reviews", "complexity", "drift"], schema=FAMILIES)
def survivors(
    context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame, accepted: pl.DataFrame, instances: pl.DataFrame,
    experience: pl.DataFrame,
) -> pl.DataFrame:
    """Every accepted family, old and new: all of them may be parents in the next cycle. Seals it."""
    from evolake import __version__
    from evolake.families.dataset.datasets import MADE

    cycle, store, settings, run_id = context.partition_key, lake.open(), lake.settings(), context.run_id
    before = archive(lake, cycle)
    rows = settled(store, cycle, candidates, passed_before(store, cycle, "", candidates))
    derived = store.read(line.name, side_table("candidates", DERIVATIONS), cycle).to_dicts()
    counts = {row["family_id"]: 0 for row in [*before.without_instances(), *accepted.to_dicts()]}
    counts |= dict(instances.group_by("family_id").len().iter_rows())
    made = before.value(MADE, {}) | {
        cycle: {"ruleset": rules_in_force(lake).hash, "seed": settings.seed, "backend": settings.backend, "version": __version__},
    }
    after = before.settle(rows, derived).with_instances(counts).with_experience(experience.sort("number")["item"].to_list(), cycle)
    after = after.with_value(MADE, made)
    live = after.rows("accepted")
    publish_side(store, "survivors", ARTIFACTS, artifact_rows([row for row in live if row["cycle"] == cycle], run_id), cycle=cycle, run_id=run_id)
    sealed = seal_cycle(context, lake, line, cycle, after.frames(), guarded_by=GUARDS, population="families")
    context.add_output_metadata(sealed.metadata() | {
        "live": len(live), "accepted_this_cycle": accepted.height, "instances_so_far": sum(row["instances"] or 0 for row in live),
        "lessons": experience.height,
    })
    return FAMILIES.frame(live)
