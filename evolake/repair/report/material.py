"""What the report is made from: the lake's current study, whole, and its findings; and what several figures
ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.repair.findings import Findings, analyse
from evolake.repair.running import Stored, read_study
from evolake.repair.tables import cell_of
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


@dataclass(frozen=True)
class StudyReport:
    """The study's record, its problems and results, and what was found."""

    study: Mapping[str, Any]
    problems: pl.DataFrame
    results: pl.DataFrame
    findings: Findings


def read_report(root: Path) -> StudyReport:
    """Return the report of the lake's current study.

    Raises:
        InputError: there is no study, or cells of it are missing; says which.
    """
    return report_of(read_study(Lake(root)))


def report_of(stored: Stored) -> StudyReport:
    """Return the report of a study that was read. Raises InputError as `read_report` does."""
    require_all_cells(stored)
    study = stored.study
    result = analyse(
        stored.results,
        stored.problems,
        candidates=study["candidates"],
        rounds=study["rounds"],
        root_seed=study["root_seed"],
    )
    return StudyReport(study, stored.problems, stored.results, result)


def require_all_cells(stored: Stored) -> None:
    """Raise InputError where a cell of the study has no results; names all that are missing."""
    study, there = stored.study, set(stored.results.select("arm", "seed").unique().iter_rows())
    missing = [
        cell_of(arm, seed) for arm in study["arms"] for seed in study["seeds"] if (arm, seed) not in there
    ]
    if missing:
        raise InputError(
            f"the study {study['study_sha'][:12]} is not finished",
            wanted=f"{len(study['arms']) * len(study['seeds'])} cells",
            got=f"{len(there)}; missing: {', '.join(missing)}",
            do="run it again with the same options; it continues where it stopped",
        )
