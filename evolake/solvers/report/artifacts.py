"""What the solvers line says of its artifacts."""

from __future__ import annotations

from evolake.lake import Lake
from evolake.report.artifacts import Gain, LineArtifacts
from evolake.solvers.measurement.duel import LEVEL
from evolake.solvers.report.data import LINE
from evolake.stats import Interval


def gain_of(lake: Lake, artifact_id: str, _cycle: str, since: str) -> Gain | None:
    """By the duel that the champion won when it came to reign; None for one that reigns since the seeds without any."""
    won = [row for row in lake.read(LINE, "champion", since).to_dicts() if row["wins"] and row["challenger_id"] == artifact_id]
    if not won:
        return None
    row = won[0]
    return Gain(
        Interval(row["ratio"], row["ratio_low"], row["ratio_high"], LEVEL), "lower PAR-2", row["champion_id"],
        f"{row['pairs']} pairs on each of {row['instances']} formulas", row["cycle"], row["wins"], noise_floor=row["noise_floor"],
        own=row["par2_challenger"], other=row["par2_champion"],
    )


ARTIFACTS = LineArtifacts(gain=gain_of, score="consensus, lower is better")
