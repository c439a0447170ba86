"""The figures of the repair study, from its findings to PNG bytes."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import by_arm, column, proposer, solve_rates
from evolake.report.figures import Figure


def draw_accuracy(findings: Findings) -> bytes:
    """On the main benchmark."""
    return solve_rates(findings.of("summary"), f"Certified solves by arm ({proposer(findings)})")


def draw_calls_to_solve(findings: Findings) -> bytes:
    """Draw one step curve per arm."""
    from evolake.plots import ArmCurve, arm_steps

    steps = [
        ArmCurve(arm, column(rows, "calls"), column(rows, "rate"))
        for arm, rows in by_arm(findings.of("effort"))
    ]
    title = f"Calls until the first certified answer ({proposer(findings)})"
    return arm_steps(steps, title, "calls of the proposer", "share of runs solved")


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


def draw_robustness(findings: Findings) -> bytes | None:
    """Return a panel per perturbation; nothing if no problem was perturbed."""
    from evolake.plots import ArmDelta, arm_deltas

    if findings.robustness.is_empty():
        return None
    names = {
        "scale": "coefficients scaled",
        "permute": "constraints permuted",
        "relabel": "variables relabelled",
    }
    panels: dict[str, list[ArmDelta]] = {}
    for row in findings.robustness.to_dicts():
        panels.setdefault(names[row["variation"]], []).append(
            ArmDelta(row["arm"], row["delta"], row["delta_low"], row["delta_high"])
        )
    title = f"Change of the solve rate under perturbation ({proposer(findings)})"
    return arm_deltas(panels, title, "percentage points, with 95% paired bootstrap intervals")


SUITE = "sudoku4"


def draw_transfer_sudoku4(findings: Findings) -> bytes | None:
    """Descriptive only; nothing if no grid was tried."""
    if SUITE not in findings.summary["suite"]:
        return None
    return solve_rates(
        findings.of("summary", suite=SUITE), f"Transfer to {SUITE}, descriptive only ({proposer(findings)})"
    )


FIGURES = (
    Figure("accuracy", draw_accuracy, order=1),
    Figure("calls_to_solve", draw_calls_to_solve, order=2),
    Figure("frontier", draw_frontier, order=3),
    Figure("convergence", draw_convergence, order=4),
    Figure("robustness", draw_robustness, order=5),
    Figure(f"transfer_{SUITE}", draw_transfer_sudoku4, order=6),
)
