"""A prompt's rating against its share of correct held-out replies."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import RatedPrompt, rating_against_score
from evolake.prompts.evolution.population import Population
from evolake.prompts.report.material import Material
from evolake.report.figures import Figure
from evolake.stats.proportions import wilson_interval

TITLE = "Rating against held-out score"


def draw_rating_against_score(material: Material) -> bytes:
    """Return a dot per prompt that was rated and evaluated, with its intervals."""
    return rating_against_score(rated_prompts(material.population, material.table("heldout")), TITLE)


def rated_prompts(population: Population, heldout: pl.DataFrame) -> list[RatedPrompt]:
    """Return every prompt that was rated and evaluated: its rating now, its share of correct held-out replies
    when it was last evaluated."""
    result = []
    for row in population.rows():
        own = heldout.filter(pl.col("prompt_id") == row["prompt_id"])
        if row["rounds"] and own.height:
            own = own.filter(pl.col("iteration") == own["iteration"].max())
            interval = wilson_interval(int(own["correct"].sum()), own.height)
            score = float(own["correct"].mean())  # pyright: ignore[reportArgumentType]
            result.append(
                RatedPrompt(
                    row["prompt_id"],
                    row["mu"],
                    row["sigma"],
                    score,
                    interval.low,
                    interval.high,
                    row["state"] == "champion",
                )
            )
    return result


FIGURE = Figure(TITLE, draw_rating_against_score, order=3, asset="survivors")
