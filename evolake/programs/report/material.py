"""What the figures of the programs line are drawn from. Used by the assets' metadata and by the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from evolake.lake import Lake, preceding
from evolake.programs.evolution.population import Population
from evolake.programs.model.project import project_of, unpack_files
from evolake.programs.tables import ARCHIVE

LINE = "programs"
FIGURES = "evolake.programs.report.figures"


@dataclass(frozen=True)
class Material:
    """The population that leaves the last of `cycles`, and the decisions of these cycles. metrics: project ->
    its declared metrics with their directions, the score first."""

    cycles: list[str]
    population: Population
    decisions: pl.DataFrame
    metrics: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def of_project(self, project: str) -> list[dict[str, Any]]:
        """Return decisions on a project's champion, by cycle."""
        return self.decisions.filter(pl.col("project") == project).sort("cycle").to_dicts()


def population_entering(lake: Lake, cycle: str) -> Population:
    """Return the population that was sealed for `cycle`."""
    return Population.of({name: lake.read(LINE, f"incoming_{name}", cycle) for name in ARCHIVE})


def material_of(lake: Lake, entering: str) -> Material:
    """Return `entering`: the cycle that the population enters; tables of that and later cycles are not looked
    at."""
    last = preceding(entering)
    cycles = [cycle for cycle in lake.cycles(LINE, "champion") if last is not None and cycle <= last]
    decisions = pl.concat([lake.read(LINE, "champion", cycle) for cycle in cycles])
    return Material(
        cycles, population_entering(lake, entering), decisions, declared_metrics(lake, cycles[-1])
    )


def declared_metrics(lake: Lake, cycle: str) -> dict[str, dict[str, str]]:
    """Return project -> its declared metrics with their directions, as a cycle had them."""
    rows = lake.read(LINE, "projects", cycle).to_dicts()
    return {
        row["project"]: project_of(row["project"], unpack_files(lake.blobs.get(row["blob_sha"]))).metrics
        for row in rows
    }
