"""What the line starts from: the root prompts of data_lake/seeds/prompts/roots.json and the base model as it
is."""

from __future__ import annotations

import polars as pl

from assets.added_seeds import with_seeds
from assets.cycle import FIRST_CYCLE, seal_seeds
from assets.prompts.line import CHAMPION_SINCE, CHECKPOINT, line, rules
from assets.store import LineStore
from evolake.lake import RULES
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROMPTS


@line.seed_asset(deps=[rules], gates=(), schema=PROMPTS)
def seeds(store: LineStore) -> pl.DataFrame:
    """Root prompts with fresh ratings, the first of them as champion; seals the population that enters cycle
    0001."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.prompts.evolution.added_seeds import SEEDS
    from evolake.prompts.evolution.population import found_population
    from evolake.prompts.model.prompt import from_json

    items = seeds_of(SEEDS, store.settings)
    roots = {item.name: from_json(item.pack().decode()) for item in items}
    population = found_population(roots, store.cycle)
    first = population.rows()[0]["prompt_id"]
    population = population.with_champion(first, store.settings.of(PromptsSettings).window)
    population = population.with_values(**{CHECKPOINT: None, CHAMPION_SINCE: FIRST_CYCLE})
    population = with_seeds(store, population, items, "prompts", population.rows())
    store.may_seal(population.frames())
    store.artifacts(population.rows())
    store.side(RULES, store.rules().rows())
    store.champion(first, None)
    sealed = seal_seeds(store.context, store.resource, line, population.frames())
    store.tell(sealed.metadata() | {"roots": ", ".join(roots), "champion": first, "first_cycle": FIRST_CYCLE})
    return population.prompts
