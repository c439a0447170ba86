"""What the study says of its artifacts, and its row among the lines: the arm that solves most against the one
that only resamples."""

from __future__ import annotations

from dataclasses import replace

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.repair.names import ONE_SHOT, RESAMPLING
from evolake.repair.report.material import read_report
from evolake.repair.report.result_tables import SIGNIFICANT, percent, points
from evolake.report.artifacts import LineArtifacts
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.standing import NOT_MEASURED, Ask, Standing


def standing(shared: Standing, lake: Lake, _ask: Ask) -> Standing | None:
    """Return the row; None if there is no complete study. Its evaluations are checks of the certifying
    solver."""
    try:
        report = read_report(lake.root)
    except InputError:
        return None
    summary = {row["arm"]: row for row in report.findings.of("summary").to_dicts()}
    matched = [arm for arm in summary if arm != ONE_SHOT]
    best = max(matched, key=lambda arm: summary[arm]["rate"])
    shared = replace(
        shared, best=_arm(best, summary[best]["rate"]), evaluations=int(report.results["solver_calls"].sum())
    )
    if RESAMPLING not in summary:
        return replace(shared, gain=f"{NOT_MEASURED}: the study has no arm {RESAMPLING}")
    shared = replace(shared, start=_arm(RESAMPLING, summary[RESAMPLING]["rate"]))
    if best == RESAMPLING:
        return replace(shared, gain=f"{NONE_YET}: no arm solves more than mere attempts")
    pairs = {
        (row["first"], row["second"]): row
        for row in report.findings.comparisons.to_dicts()
        if row["unit"] == "problem"
    }
    row = pairs[best, RESAMPLING]
    ends = (
        f"95% interval {points(row['difference_low'])} to {points(row['difference_high'])}, "
        f"{counted(row['pairs'], 'problem')}"
    )
    measured, is_gain = (
        f"{points(row['difference'])} percentage points of problems solved",
        row["p_holm"] < SIGNIFICANT and row["difference"] > 0,
    )
    return replace(
        shared,
        gain=f"{measured} ({ends})" if is_gain else f"{NONE_YET} ({measured}, {ends}; not significant)",
        is_gain=is_gain,
        estimate=row["difference"],
        low=row["difference_low"],
        high=row["difference_high"],
        level=0.95,
    )


def _arm(name: str, rate: float) -> str:
    return f"{name} ({percent(rate)} of runs solved)"


ARTIFACTS = LineArtifacts(
    standing=standing,
    crowns_none="it is a study that compares arms: `evolake repair report --out DIR` says which arm repairs more",  # noqa: E501
)
