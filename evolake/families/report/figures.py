"""The figures of the families line, from what its page is made of (`material`) to PNG bytes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from evolake.families.dataset.difficulty import GROUPS, curve
from evolake.families.gates.specs import GATES
from evolake.families.operators.registry import OPERATORS
from evolake.families.report import paper
from evolake.report.figures import Figure
from evolake.stats.proportions import wilson_interval

if TYPE_CHECKING:
    from evolake.families.report.material import FamiliesReport


def draw_categories(report: FamiliesReport) -> bytes:
    """Draw families by category, in the paper's order."""
    from evolake.families.plots import shares

    groups = {
        "seeds here": [row for row in report.accepted if row["operator"] == "seed"],
        "evolved here": report.evolved,
    }
    result = {name: Counter(row["category"] for row in rows) for name, rows in groups.items()}
    counted = {
        name: {category: float(counts[category]) for category in paper.CATEGORIES}
        for name, counts in result.items()
    }
    theirs = {"the paper's seeds": {name: float(count) for name, count in paper.CATEGORIES.items()}}
    return shares(counted | theirs, "Categories of families")


MEASURES = {
    "loc": ("lines of code", False),
    "cyclomatic": ("cyclomatic complexity", False),
    "cognitive": ("cognitive complexity", False),
    "halstead_effort": ("Halstead effort", True),
    "loops": ("loops", False),
    "loop_depth": ("depth of loops", False),
}
"""Column of COMPLEXITY -> its name, and whether its axis is logarithmic."""


def draw_complexity(report: FamiliesReport) -> bytes:
    """Return a panel per measure; boxes for the seeds and each operator, lines for the paper's seeds and its
    least and largest evolved mean."""
    from evolake.families.plots import Panel, distributions

    panels = []
    for column, (said, log) in MEASURES.items():
        groups = {
            f"{name} ({frame.height})": frame[column].cast(pl.Float64).to_list()
            for name in ("seed", *OPERATORS)
            if (frame := report.tables["measured"].filter(pl.col("operator") == name)).height
        }
        evolved = [values[column] for name, values in paper.COMPLEXITY.items() if name != "seed"]
        references = {
            "the paper's seeds": paper.COMPLEXITY["seed"][column],
            "its least evolved mean": min(evolved),
            "its largest evolved mean": max(evolved),
        }
        panels.append(Panel(said, groups, references if column != "halstead_effort" else {}, log))
    return distributions(panels, "Complexity of generator and primary validator")


def draw_difficulty(report: FamiliesReport) -> bytes:
    """Return a line per group of families, seeds, drawn worlds and children; the replies of the policies of
    the prompts line where it asked families."""
    from evolake.families.plots import Curve, difficulty

    rows = curve(report.work).to_dicts()
    curves = [
        Curve(
            group,
            [
                (row["difficulty"], row["lower"], row["median"], row["upper"])
                for row in rows
                if row["group"] == group
            ],
        )
        for group in GROUPS
    ]
    passed = [
        (level, right / replies, *interval_of(right, replies))
        for level, replies, right in report.asked.rows()
    ]
    return difficulty(curves, passed, "Difficulty across families")


def interval_of(right: int, replies: int) -> tuple[float, float]:
    """Return the ends of the 95% interval of a share."""
    interval = wilson_interval(right, replies)
    return interval.low, interval.high


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


def draw_growth(report: FamiliesReport) -> bytes:
    """Return how many families, seeds among them, and how many instances there are after each cycle."""
    from evolake.families.plots import growth

    made = report.tables["made"]
    seeds = len(report.accepted) - len(report.evolved) - made["entered"].sum()
    made = made.with_columns(
        families=(pl.col("accepted") + pl.col("entered")).cum_sum() + seeds,
        total=pl.col("instances").cum_sum(),
    )
    reached = {"the paper, two rounds": (paper.FAMILIES[1], paper.INSTANCES[1])}
    return growth(made["cycle"].to_list(), made["families"].to_list(), made["total"].to_list(), reached)


def draw_planted_faults(report: FamiliesReport) -> bytes | None:
    """Nothing if no fault was planted."""
    from evolake.families.tables_faults import figure_of

    return figure_of(report.kills) if report.kills.height else None


FIGURES = (
    Figure("Gates", draw_gates, place="gates", order=1),
    Figure("Growth", draw_growth, place="growth", order=2),
    Figure("Categories", draw_categories, place="complexity", order=3),
    Figure("Complexity", draw_complexity, place="complexity", order=4),
    Figure("Planted faults", draw_planted_faults, place="faults", order=5),
    Figure("Work by level", draw_difficulty, place="difficulty", order=6),
)
