"""Certified solves by arm on Sudoku grids."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import proposer, solve_rates
from evolake.report.figures import Figure

SUITE = "sudoku4"


def draw_transfer_sudoku4(findings: Findings) -> bytes | None:
    """Descriptive only; nothing if no grid was tried."""
    if SUITE not in findings.summary["suite"]:
        return None
    return solve_rates(
        findings.of("summary", suite=SUITE), f"Transfer to {SUITE}, descriptive only ({proposer(findings)})"
    )


FIGURE = Figure(f"transfer_{SUITE}", draw_transfer_sudoku4, order=6)
