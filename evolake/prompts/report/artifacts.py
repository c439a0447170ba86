"""What the prompts line says of its artifacts."""

from __future__ import annotations

import polars as pl

from evolake.lake import Lake, following
from evolake.prompts.report.material import LINE, population_entering
from evolake.report.artifacts import Gain, LineArtifacts
from evolake.seeds import generator
from evolake.stats import bootstrap_interval


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Champion and weights at the end of the cycle against the first root under the base model, on the held-out problems that both answered; None
    where there are none."""
    population = population_entering(lake, following(cycle))
    heldout = lake.read(LINE, "heldout", cycle)
    now = _shares(heldout.filter((pl.col("prompt_id") == artifact_id) & (pl.col("iteration") == population.iteration)))
    start = _shares(base_evaluation(lake))
    both = sorted(set(now) & set(start))
    if not both:
        return None
    gained = bootstrap_interval([now[name] - start[name] for name in both], generator(0, LINE, "0000", "headline", 0))
    own, other = (sum(side[name] for name in both) / len(both) for side in (now, start))
    return Gain(
        gained, "more correct replies", population.rows()[0]["prompt_id"],
        f"on {len(both)} held-out problems: {own:.1%} with the weights as they are now, {other:.1%} before", cycle, gained.low > 0,
        against="the first root under the base model", is_ratio=False, own=own, other=other,
    )


def base_evaluation(lake: Lake) -> pl.DataFrame:
    """Rows of EVALUATIONS of the base model under the first root."""
    return lake.read(LINE, "heldout", "0001").filter(pl.col("iteration") == 0)


def _shares(rows: pl.DataFrame) -> dict[str, float]:
    """problem -> share of its replies that are correct."""
    return dict(rows.group_by("problem_id").agg(pl.col("correct").mean()).iter_rows())


ARTIFACTS = LineArtifacts(gain=gain_of, score="share of correct held-out replies")
