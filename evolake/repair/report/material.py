"""What several of the study's figures ask of its findings. Used by the assets' metadata and by the report."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evolake.repair.statistics.findings import Findings
from evolake.report.figures import draw_figures

FIGURES = "evolake.repair.report.figures"
NAN = float("nan")


def study_figures(findings: Findings) -> dict[str, bytes]:
    """Return name -> PNG; those for which there are runs."""
    return draw_figures(FIGURES, findings)


def proposer(findings: Findings) -> str:
    """Return who proposed: the model's name, or that there was none."""
    backend, model = findings.summary.select("backend", "model").row(0)
    return "operators, no model" if backend == "operators" else f"model {model}"


def solve_rates(summary: pl.DataFrame, title: str) -> bytes:
    """Return share of certified solves by arm, and on SAT and UNSAT problems apart."""
    from evolake.plots import ArmRate, arm_rates

    rates = [
        ArmRate(
            row["arm"],
            row["rate"],
            row["bootstrap_low"],
            row["bootstrap_high"],
            {"SAT problems": _or_nan(row["sat_rate"]), "UNSAT problems": _or_nan(row["unsat_rate"])},
        )
        for row in summary.to_dicts()
    ]
    return arm_rates(rates, title)


def by_arm(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return arm -> its rows, in order of appearance."""
    return [(arm, frame.filter(pl.col("arm") == arm)) for arm in frame["arm"].unique(maintain_order=True)]


def column(frame: pl.DataFrame, name: str) -> Sequence[float]:
    """Return a column as numbers."""
    return frame[name].to_list()


def _or_nan(value: float | None) -> float:
    return NAN if value is None else value
