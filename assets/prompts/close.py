"""The closing of a cycle: who lives on, and the population that enters the next one, with the policy as it is now."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import following, seal_cycle
from assets.prompts import figures
from assets.prompts.checks import GUARDS
from assets.prompts.line import CHAMPION_SINCE, CHECKPOINT, FAMILIES_CYCLES, artifact_rows, line, partition_of, publish_side
from assets.prompts.reign import reigning, trained
from evolake.lake import ARTIFACTS, CHAMPIONS
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROMPTS
from resources.lake import LakeResource


@line.asset(deps=["rollouts", "values", "ratings", "updates", "edits", "children"], schema=PROMPTS)
def survivors(
    context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame, accepted: pl.DataFrame, champion: pl.DataFrame,
    heldout: pl.DataFrame,
) -> pl.DataFrame:
    """The champion and the window: what may be drawn in the next cycle. Seals it, with the policy's checkpoint."""
    from evolake.prompts.evolution.population import Population
    from evolake.prompts.model.problems import finished_families

    (cycle, run_id), store, settings = partition_of(context), lake.open(), lake.settings()
    population, checkpoint = trained(lake, iterations, accepted)
    assert isinstance(population, Population)
    reigns = reigning(store, cycle, population)
    since = population.value(CHAMPION_SINCE) if reigns == population.champion_id else cycle
    closed = population.crowned(reigns, settings.of(PromptsSettings).window).with_value(CHECKPOINT, checkpoint).with_value(CHAMPION_SINCE, since)
    closed = closed.with_value(FAMILIES_CYCLES, finished_families(store))
    share = heldout.filter((pl.col("prompt_id") == reigns) & (pl.col("iteration") == closed.iteration))["correct"].mean()
    reign = {"line": line.name, "cycle": cycle, "artifact_id": reigns, "score": share}
    publish_side(store, "survivors", CHAMPIONS, [reign], cycle=cycle, run_id=run_id)
    changed = [row | {"cycle": cycle} for row in closed.rows() if row["cycle"] == cycle or row["prompt_id"] == reigns]
    publish_side(store, "survivors", ARTIFACTS, artifact_rows(changed, run_id), cycle=cycle, run_id=run_id)
    sealed = seal_cycle(context, lake, line, cycle, closed.frames(), guarded_by=GUARDS, population="prompts")
    live = closed.rows("champion", "accepted", "candidate")
    context.add_output_metadata(sealed.metadata() | {
        "champion_id": reigns, "champion_since": since, "live": len(live), "checkpoint": checkpoint or "none: the base model",
    } | figures.of_cycle(store, following(cycle)))
    return PROMPTS.frame(live)
