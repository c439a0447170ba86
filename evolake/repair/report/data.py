"""What the report is made from: the lake's current study, whole, and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.repair.execution.running import Stored, read_study
from evolake.repair.statistics.findings import Findings, analyse
from evolake.repair.tables import cell_of


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
