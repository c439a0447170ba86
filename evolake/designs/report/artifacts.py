"""What the designs line says of its artifacts."""

from __future__ import annotations

from evolake.designs.evolution.experiments import LINE
from evolake.lake import Lake
from evolake.report.artifacts import Gain, LineArtifacts
from evolake.stats import Interval

RATIO_LEVEL = 0.95
"""Of the interval that a decision gives: the default of `evolake.stats.median_ratio_interval`."""


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Against the baseline, on the fresh seeds of the cycle; None for the baseline itself."""
    for row in lake.read(LINE, "champion_decisions", cycle).to_dicts():
        if row["comparison"] == "baseline" and row["challenger_id"] == artifact_id:
            return Gain(
                Interval(row["ratio"], row["ratio_low"], row["ratio_high"], RATIO_LEVEL), "fewer median steps", row["incumbent_id"],
                f"at N={row['N']} on {row['pairs']} fresh seeds of {row['batch']} instances each, profile {row['profile']}", cycle, row["wins"],
            )
    return None


ARTIFACTS = LineArtifacts(gain=gain_of, score="consensus, lower is better")
