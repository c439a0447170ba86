"""How many calls of the proposer a certified answer takes."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import by_arm, column, proposer
from evolake.report.figures import Figure


def draw_calls_to_solve(findings: Findings) -> bytes:
    """Draw one step curve per arm."""
    from evolake.plots import ArmCurve, arm_steps

    steps = [
        ArmCurve(arm, column(rows, "calls"), column(rows, "rate"))
        for arm, rows in by_arm(findings.of("effort"))
    ]
    title = f"Calls until the first certified answer ({proposer(findings)})"
    return arm_steps(steps, title, "calls of the proposer", "share of runs solved")


FIGURE = Figure("calls_to_solve", draw_calls_to_solve, order=2)
