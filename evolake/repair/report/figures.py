"""The study's figures, from its findings to PNG bytes. Each title says who proposed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evolake.repair.statistics import Findings

NAN = float("nan")


def study_figures(findings: Findings) -> dict[str, bytes]:
    """Name -> PNG: accuracy, calls_to_solve, frontier, convergence, and where there are such runs robustness and transfer."""
    from evolake.plots import ArmCurve, ArmPoint, arm_curves, arm_frontier, arm_steps

    who = proposer(findings)
    summary, convergence, effort = findings.of("summary"), findings.of("convergence"), findings.of("effort")
    bounds = {row["arm"]: (row["bootstrap_low"], row["bootstrap_high"]) for row in summary.to_dicts()}
    points = [
        ArmPoint(row["arm"], row["mean_solver_calls"], row["rate"], *bounds[row["arm"]], row["on_frontier"])
        for row in findings.of("frontier").to_dicts()
    ]
    rounds = [
        ArmCurve(arm, *(_column(rows, name) for name in ("round", "rate", "bootstrap_low", "bootstrap_high"))) for arm, rows in _by_arm(convergence)
    ]
    steps = [ArmCurve(arm, _column(rows, "calls"), _column(rows, "rate")) for arm, rows in _by_arm(effort)]
    drawn = {
        "accuracy": _accuracy(summary, f"Certified solves by arm ({who})"),
        "calls_to_solve": arm_steps(steps, f"Calls until the first certified answer ({who})", "calls of the proposer", "share of runs solved"),
        "frontier": arm_frontier(points, f"What a solve rate costs ({who})", "mean solver calls a run", "share of runs solved"),
        "convergence": arm_curves(rounds, f"Convergence by round ({who})", "round", "share of runs solved by its end"),
    }
    if findings.robustness.height:
        drawn["robustness"] = _robustness(findings.robustness, f"Change of the solve rate under perturbation ({who})")
    for suite in sorted(set(findings.summary["suite"]) - {"lia"}):
        drawn[f"transfer_{suite}"] = _accuracy(findings.of("summary", suite=suite), f"Transfer to {suite}, descriptive only ({who})")
    return drawn


def proposer(findings: Findings) -> str:
    """Who proposed: the model's name, or that there was none."""
    backend, model = findings.summary.select("backend", "model").row(0)
    return "operators, no model" if backend == "operators" else f"model {model}"


def _accuracy(summary: pl.DataFrame, title: str) -> bytes:
    from evolake.plots import ArmRate, arm_rates

    rates = [
        ArmRate(
            row["arm"], row["rate"], row["bootstrap_low"], row["bootstrap_high"],
            {"SAT problems": _or_nan(row["sat_rate"]), "UNSAT problems": _or_nan(row["unsat_rate"])},
        )
        for row in summary.to_dicts()
    ]
    return arm_rates(rates, title)


def _robustness(robustness: pl.DataFrame, title: str) -> bytes:
    from evolake.plots import ArmDelta, arm_deltas

    names = {"scale": "coefficients scaled", "permute": "constraints permuted", "relabel": "variables relabelled"}
    panels: dict[str, list[ArmDelta]] = {}
    for row in robustness.to_dicts():
        panels.setdefault(names[row["variation"]], []).append(ArmDelta(row["arm"], row["delta"], row["delta_low"], row["delta_high"]))
    return arm_deltas(panels, title, "percentage points, with 95% paired bootstrap intervals")


def _by_arm(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(arm, frame.filter(pl.col("arm") == arm)) for arm in frame["arm"].unique(maintain_order=True)]


def _column(frame: pl.DataFrame, name: str) -> Sequence[float]:
    return frame[name].to_list()


def _or_nan(value: float | None) -> float:
    return NAN if value is None else value
