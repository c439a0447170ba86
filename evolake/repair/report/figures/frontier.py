"""What a solve rate costs in calls of the solver."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import proposer
from evolake.report.figures import Figure


def draw_frontier(findings: Findings) -> bytes:
    """Draw one dot per arm, those that no other dominates joined."""
    from evolake.plots import ArmPoint, arm_frontier

    bounds = {
        row["arm"]: (row["bootstrap_low"], row["bootstrap_high"]) for row in findings.of("summary").to_dicts()
    }
    points = [
        ArmPoint(row["arm"], row["mean_solver_calls"], row["rate"], *bounds[row["arm"]], row["on_frontier"])
        for row in findings.of("frontier").to_dicts()
    ]
    return arm_frontier(
        points,
        f"What a solve rate costs ({proposer(findings)})",
        "mean solver calls per run",
        "share of runs solved",
    )


FIGURE = Figure("frontier", draw_frontier, order=3)
