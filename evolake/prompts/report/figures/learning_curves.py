"""Shares of correct replies by iteration."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmCurve, arm_curves
from evolake.prompts.report.material import LINE, Material
from evolake.report.figures import Figure
from evolake.seeds import generator
from evolake.stats.bootstrap import bootstrap_interval

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


FIGURE = Figure("Learning curves", draw_learning_curves, order=2, asset="survivors")
