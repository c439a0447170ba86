"""Certified solves by arm."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import proposer, solve_rates
from evolake.report.figures import Figure


def draw_accuracy(findings: Findings) -> bytes:
    """On the main benchmark."""
    return solve_rates(findings.of("summary"), f"Certified solves by arm ({proposer(findings)})")


FIGURE = Figure("accuracy", draw_accuracy, order=1)
