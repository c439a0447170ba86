"""The closing of a cycle: who lives on, and the population that enters the next one, with the policy as it is
now."""

from __future__ import annotations

import polars as pl

from assets.cycle import following
from assets.pictures import figures_of
from assets.prompts.champion import current_champion, trained
from assets.prompts.checks import GUARDS
from assets.prompts.line import CHAMPION_SINCE, CHECKPOINT, line
from assets.store import LineStore
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROMPTS


@line.asset(
    deps=["rollouts", "values", "ratings", "updates", "learnability", "edits", "children"], schema=PROMPTS
)
def survivors(
    store: LineStore,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
    heldout: pl.DataFrame,
) -> pl.DataFrame:
    """Select the champion and the window: what may be drawn in the next cycle. Seals it, with the policy's
    checkpoint."""
    from evolake.prompts.report.material import FIGURES, material_of

    cycle, (population, checkpoint) = store.cycle, trained(store, iterations, accepted)
    champion_id = current_champion(store, population)
    since = population.value(CHAMPION_SINCE) if champion_id == population.champion_id else cycle
    closed = population.with_champion(champion_id, store.settings.of(PromptsSettings).window)
    closed = closed.with_values(**{CHECKPOINT: checkpoint, CHAMPION_SINCE: since})
    score = heldout.filter((pl.col("prompt_id") == champion_id) & (pl.col("iteration") == closed.iteration))[
        "correct"
    ].mean()
    store.champion(champion_id, score)  # pyright: ignore[reportArgumentType]  (a mean of booleans)
    # A child that passed its gates is an accepted artifact, though it took no part in an iteration yet
    # (`candidate` of the line's own table).
    passed = {"candidate": "accepted"}
    store.artifacts(
        row | {"cycle": cycle, "state": passed.get(row["state"], row["state"])}
        for row in closed.rows()
        if row["cycle"] == cycle or row["prompt_id"] == champion_id
    )
    sealed = store.seal(closed.frames(), GUARDS, survivors="prompts")
    live = closed.rows("champion", "accepted", "candidate")
    store.tell(
        sealed.metadata()
        | {
            "champion_id": champion_id,
            "champion_since": since,
            "live": len(live),
            "checkpoint": checkpoint or "none: the base model",
        }
        | figures_of(FIGURES, material_of(store.lake, following(cycle)), "survivors")
    )
    return PROMPTS.frame(live)
