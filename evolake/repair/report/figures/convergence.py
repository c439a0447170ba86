"""Share of runs solved by the end of each round."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import by_arm, column, proposer
from evolake.report.figures import Figure


def draw_convergence(findings: Findings) -> bytes:
    """Draw one curve per arm, with its band."""
    from evolake.plots import ArmCurve, arm_curves

    rounds = [
        ArmCurve(arm, *(column(rows, name) for name in ("round", "rate", "bootstrap_low", "bootstrap_high")))
        for arm, rows in by_arm(findings.of("convergence"))
    ]
    return arm_curves(
        rounds, f"Convergence by round ({proposer(findings)})", "round", "share of runs solved by its end"
    )


FIGURE = Figure("convergence", draw_convergence, order=4)
