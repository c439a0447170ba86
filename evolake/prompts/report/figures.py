"""The figures of the prompts line, from its archive and the lake (`material.Material`) to PNG bytes."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmCurve, RatedPrompt, arm_curves, rating_against_score
from evolake.plots.genealogy import Ancestor, genealogy
from evolake.prompts.evolution.population import Population
from evolake.prompts.report.material import LINE, Material
from evolake.report.figures import Figure
from evolake.seeds import generator
from evolake.stats.bootstrap import bootstrap_interval
from evolake.stats.proportions import wilson_interval


def draw_evolutionary_tree(material: Material) -> bytes:
    """Return every prompt, the champion's ancestry marked."""
    population, states = (
        material.population,
        {"blocked": "blocked", "champion": "champion", "retired": "retired"},
    )
    nodes = [
        Ancestor(
            row["prompt_id"],
            f"{row['iteration']:04d}",
            states.get(row["state"], "accepted"),
            f"{row['operator']} {row['number']}",
        )
        for row in population.rows()
    ]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in population.derivations.to_dicts()]
    return genealogy(nodes, edges, population.champion_id, column="iteration")


TRAINING, HELDOUT_CHAMPION, HELDOUT_ROOT = "training batch", "held out, champion", "held out, first root"


def draw_learning_curves(material: Material) -> bytes:
    """On the training batch, and on held-out problems under the champion and under the first root."""
    curves = learning_curves(material.table("rollouts"), material.table("heldout"), material.champions())
    return arm_curves(
        curves, "Share of correct replies, with 95% bands over problems", "iteration", "correct"
    )


def learning_curves(
    rollouts: pl.DataFrame, heldout: pl.DataFrame, champions: dict[int, str]
) -> list[ArmCurve]:
    """Return shares of correct replies by iteration: of the training batch, and on held-out problems under
    the champion and under the first root.

    Args:
        champions: iteration -> the prompt that was champion after it.
    """
    root = heldout.filter(pl.col("iteration") == heldout["iteration"].min())["prompt_id"].to_list()[:1]
    columns = {"iteration": list(champions), "prompt_id": list(champions.values())}
    held = pl.DataFrame(columns, schema={"iteration": pl.Int64, "prompt_id": pl.String})
    parts = {
        TRAINING: rollouts,
        HELDOUT_CHAMPION: heldout.join(held, on=["iteration", "prompt_id"]),
        HELDOUT_ROOT: heldout.filter(pl.col("prompt_id").is_in(root)),
    }
    return [_curve(name, part) for name, part in parts.items() if part.height]


def _curve(name: str, rows: pl.DataFrame) -> ArmCurve:
    """Mean over problems of each problem's share, by iteration; the band resamples problems."""
    points = []
    for (iteration,), part in sorted(rows.group_by("iteration"), key=lambda item: item[0]):
        shares = (
            part.group_by("problem_id").agg(pl.col("correct").mean()).sort("problem_id")["correct"].to_numpy()
        )
        band = bootstrap_interval(shares, generator(0, LINE, f"{iteration}", name, 0))
        points.append((iteration, band.estimate, band.low, band.high))
    x, y, low, high = (list(column) for column in zip(*points, strict=True))
    return ArmCurve(name, x, y, low, high)


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


FIGURES = (
    Figure("Evolutionary tree", draw_evolutionary_tree, order=1, asset="survivors"),
    Figure("Learning curves", draw_learning_curves, order=2, asset="survivors"),
    Figure(TITLE, draw_rating_against_score, order=3, asset="survivors"),
)
