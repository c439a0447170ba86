"""The figures of the families line, from its tables to PNG bytes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from evolake.families.operators.registry import OPERATORS
from evolake.families.report import paper

if TYPE_CHECKING:
    from evolake.families.report.data import FamiliesReport
    from evolake.plots.families import GateRate

SHOWN = {"execution": "execution", "static": "static", "quality": "quality reviewer", "consensus": "consensus", "blind": "blind reviews",
         "attempts": "attempts, refined"}
"""Gate -> its name on the figure."""
MEASURES = {
    "loc": ("lines of code", False), "cyclomatic": ("cyclomatic complexity", False), "cognitive": ("cognitive complexity", False),
    "halstead_effort": ("Halstead effort", True), "loops": ("loops", False), "loop_depth": ("depth of loops", False),
}
"""Column of COMPLEXITY -> its name, and whether its axis is logarithmic."""


def report_figures(report: FamiliesReport) -> dict[str, bytes]:
    """Title -> PNG, in the order of the page."""
    from evolake.families.tables_faults import figure_of
    from evolake.plots import families as plots

    figures = {
        "Gates": plots.gate_rates(gate_bars(report), "What passes each gate, all cycles together", "the paper's pipeline, of all 100 traces"),
        "Growth": plots.growth(*growth(report), {"the paper, two rounds": (paper.FAMILIES[1], paper.INSTANCES[1])}),
        "Categories": plots.shares(categories(report), "Categories of families"),
        "Complexity": plots.distributions(complexity_panels(report), "Complexity of generator and primary validator"),
    }
    return figures | ({"Planted faults": figure_of(report.kills)} if report.kills.height else {})


def gate_bars(report: FamiliesReport) -> list[GateRate]:
    """The gates in order, attempts last."""
    from evolake.plots.families import GateRate

    known = paper.GATE_RATES | {"attempts": paper.OVERALL}
    return [GateRate(SHOWN[row["gate"]], row["came"], row["passed"], known.get(row["gate"])) for row in report.gates.to_dicts()]


def growth(report: FamiliesReport) -> tuple[list[str], list[int], list[int]]:
    """Cycles, and how many families and instances there are after each; families with the seeds."""
    seeds = len(report.accepted) - len(report.evolved)
    made = report.made.with_columns(families=pl.col("accepted").cum_sum() + seeds, total=pl.col("instances").cum_sum())
    return made["cycle"].to_list(), made["families"].to_list(), made["total"].to_list()


def categories(report: FamiliesReport) -> dict[str, dict[str, float]]:
    """Group -> category -> families, categories in the paper's order."""
    groups = {"seeds here": [row for row in report.accepted if row["operator"] == "seed"], "evolved here": report.evolved}
    found = {name: Counter(row["category"] for row in rows) for name, rows in groups.items()}
    counted = {name: {category: float(counts[category]) for category in paper.CATEGORIES} for name, counts in found.items()}
    return counted | {"the paper's seeds": {name: float(count) for name, count in paper.CATEGORIES.items()}}


def complexity_panels(report: FamiliesReport) -> list:
    """A panel a measure; boxes for the seeds and each operator, lines for the paper's seeds and its least and largest evolved mean."""
    from evolake.plots.families import Panel

    panels = []
    for column, (said, log) in MEASURES.items():
        groups = {
            f"{name} ({frame.height})": frame[column].cast(pl.Float64).to_list()
            for name in ("seed", *OPERATORS) if (frame := report.measured.filter(pl.col("operator") == name)).height
        }
        evolved = [values[column] for name, values in paper.COMPLEXITY.items() if name != "seed"]
        references = {"the paper's seeds": paper.COMPLEXITY["seed"][column], "its least evolved mean": min(evolved),
                      "its largest evolved mean": max(evolved)}
        panels.append(Panel(said, groups, references if column != "halstead_effort" else {}, log))
    return panels
