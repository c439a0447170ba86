"""The share of those that came to a gate that passed it, next to the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.families.gates.specs import GATES
from evolake.families.report import paper
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport

SHOWN = {**{gate.name: gate.label or gate.name for gate in GATES}, "attempts": "attempts, refined"}
"""Gate -> its name on the figure."""


def draw_gates(report: FamiliesReport) -> bytes:
    """Return the gates in order, attempts last."""
    from evolake.families.plots import GateRate, gate_rates

    known = paper.GATE_RATES | {"attempts": paper.OVERALL}
    bars = [
        GateRate(SHOWN[row["gate"]], row["came"], row["passed"], known.get(row["gate"]))
        for row in report.tables["gates"].to_dicts()
    ]
    return gate_rates(
        bars, "What passes each gate, all cycles together", "the paper's pipeline, of all 100 traces"
    )


FIGURE = Figure("Gates", draw_gates, place="gates", order=1)
