"""How the solve rate changes under perturbation."""

from __future__ import annotations

from evolake.repair.findings import Findings
from evolake.repair.report.material import proposer
from evolake.report.figures import Figure


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


FIGURE = Figure("robustness", draw_robustness, order=5)
