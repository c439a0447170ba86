"""The figures of the utility study, from its findings to PNG bytes."""

from __future__ import annotations

import polars as pl

from evolake.plots.arms import (
    ArmCurve,
    ArmDelta,
    ArmRate,
    arm_curves,
    arm_deltas,
    arm_rates,
    arm_traces,
    colours_of_arms,
)
from evolake.report.figures import Figure
from evolake.utility.findings import TRAINING, Findings
from evolake.utility.tables import ARMS, LINEAGES, MATCHINGS, TRAINED


def draw_accuracy(findings: Findings) -> bytes | None:
    """On held-out lineages."""
    rows = findings.summary.filter((pl.col("matching") == "steps") & (pl.col("suite") == LINEAGES)).to_dicts()
    rates = [ArmRate(row["arm"], row["correct"], row["low"], row["high"], {}) for row in rows]
    title = "Problems of held-out lineages solved, equal steps"
    return arm_rates(rates, title, "share of problems solved", colours_of_arms(list(ARMS))) if rates else None


def draw_differences(findings: Findings) -> bytes | None:
    """On held-out lineages. A difference has the colour of its first arm."""
    panels, colours, of_arms = {}, {}, colours_of_arms(list(ARMS))
    for matching in MATCHINGS:
        rows = findings.comparisons.filter(
            (pl.col("matching") == matching) & (pl.col("suite") == LINEAGES)
        ).to_dicts()
        colours |= {f"{row['first']} - {row['second']}": of_arms[row["first"]] for row in rows}
        panels[f"equal {matching}"] = [
            ArmDelta(f"{row['first']} - {row['second']}", row["difference"], row["low"], row["high"])
            for row in rows
        ]
    title = "Difference of the shares solved, held-out lineages, in points"
    return arm_deltas(panels, title, "points, with 95% intervals", colours) if any(panels.values()) else None


def draw_learning(findings: Findings) -> bytes | None:
    """On held-out lineages, with bands over problems and seeds."""
    result = findings.curves.filter((pl.col("measure") == "correct") & (pl.col("suite") == LINEAGES)).sort(
        "step"
    )
    curves = [
        ArmCurve(
            arm,
            part["step"].to_list(),
            part["value"].to_list(),
            part["low"].to_list(),
            part["high"].to_list(),
        )
        for arm in TRAINED
        if (part := result.filter(pl.col("arm") == arm)).height
    ]
    title = "Problems of held-out lineages solved, with 95% bands"
    return arm_curves(curves, title, "step", "share solved", colours_of_arms(list(ARMS))) if curves else None


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


FIGURES = (
    Figure("Held-out lineages solved by arm", draw_accuracy, order=1),
    Figure("Held-out lineages solved over the steps", draw_learning, order=2),
    Figure("Replies that were trained on", draw_training, order=3),
    Figure("Differences between arms", draw_differences, order=4),
)
