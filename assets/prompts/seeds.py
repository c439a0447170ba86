"""What the line starts from: the root prompts of data_lake/seeds/prompts/roots.json and the base model as it is."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import FIRST_CYCLE, seal_seeds
from assets.prompts.line import CHAMPION_SINCE, CHECKPOINT, FAMILIES_CYCLES, artifact_rows, line, publish_side, rules, rules_in_force
from evolake.lake import ARTIFACTS, CHAMPIONS, RULES
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROMPTS
from resources.lake import LakeResource

SEED_ROUND = "0000"


@line.seed_asset(deps=[rules], schema=PROMPTS)
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Root prompts with fresh ratings, the first of them as champion; seals the population that enters cycle 0001."""
    from evolake.prompts.evolution.population import found_population
    from evolake.prompts.model.library import load_roots
    from evolake.prompts.model.problems import finished_families

    store, settings, run_id = lake.open(), lake.settings(), context.run_id
    roots = load_roots(settings.seeds / "prompts")
    population = found_population(roots, SEED_ROUND)
    first = population.rows()[0]["prompt_id"]
    population = population.crowned(first, settings.of(PromptsSettings).window).with_value(CHECKPOINT, None).with_value(CHAMPION_SINCE, FIRST_CYCLE)
    population = population.with_value(FAMILIES_CYCLES, finished_families(store))
    publish_side(store, "seeds", ARTIFACTS, artifact_rows(population.rows(), run_id), cycle=None, run_id=run_id)
    publish_side(store, "seeds", RULES, rules_in_force(lake).rows(), cycle=None, run_id=run_id)
    reign = {"line": line.name, "cycle": SEED_ROUND, "artifact_id": first, "score": None}
    publish_side(store, "seeds", CHAMPIONS, [reign], cycle=None, run_id=run_id)
    sealed = seal_seeds(context, lake, line, population.frames())
    context.add_output_metadata(sealed.metadata() | {"roots": ", ".join(roots), "champion": first, "first_cycle": FIRST_CYCLE})
    return population.prompts
