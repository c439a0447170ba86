"""What training says of itself: reward, length, words of reflection, entropy."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import ArmCurve, arm_traces, colours_of_arms
from evolake.report.figures import Figure
from evolake.utility.findings import TRAINING, Findings
from evolake.utility.tables import ARMS, TRAINED

NAMES = {
    "reward": "mean reward",
    "length": "tokens per reply",
    "reflections": "words of self-checking per reply",
    "entropy": "entropy per token, nats",
}


def draw_training(findings: Findings) -> bytes | None:
    """Draw means over the seeds."""
    panels = {NAMES[measure]: [] for measure in TRAINING}
    for measure in TRAINING:
        for arm in TRAINED:
            part = findings.curves.filter((pl.col("measure") == measure) & (pl.col("arm") == arm)).sort(
                "step"
            )
            if part.height:
                panels[NAMES[measure]].append(ArmCurve(arm, part["step"].to_list(), part["value"].to_list()))
    return (
        arm_traces(panels, "Replies that were trained on", "step", colours_of_arms(list(ARMS)))
        if any(panels.values())
        else None
    )


FIGURE = Figure("Replies that were trained on", draw_training, order=3)
