"""What the figures of the programs line are drawn from, in the assets' metadata and in the report; and the
Pareto front of a project with several declared metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from evolake.lake import Lake, preceding
from evolake.programs.evolution.population import LIVING, Population
from evolake.programs.model.project import project_of, unpack_files
from evolake.programs.tables import ARCHIVE
from evolake.report.numbers import figures

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


def front_of(material: Material, project: str) -> dict[str, Any]:
    """Return the declared metrics of a project and the living programs that no other beats in all of them,
    the best in the first metric first."""
    metrics = material.metrics[project]
    rows = material.population.rows(project, *LIVING)
    members = [
        {
            "program_id": row["program_id"],
            "champion": row["state"] == "champion",
            "operator": row["operator"],
            "score": row["score"],
            "metrics": _declared(row, metrics),
        }
        for row in rows
        if row["front"]
    ]
    name, way = next(iter(metrics.items()))
    members.sort(key=lambda item: item["metrics"].get(name, item["score"]), reverse=way == "max")
    return {"project": project, "metrics": dict(metrics), "living": len(rows), "front": members}


def _declared(row: Mapping[str, Any], metrics: Mapping[str, str]) -> dict[str, float]:
    given = json.loads(row["metrics"])
    return {name: given[name] for name in metrics if name in given}


def lines_of(front: Mapping[str, Any]) -> list[str]:
    """For people."""
    ways = ", ".join(
        f"{name} ({'higher' if way == 'max' else 'lower'} is better)"
        for name, way in front["metrics"].items()
    )
    lines = [
        f"{front['project']}: {len(front['front'])} of {front['living']} living programs are on the front "
        f"of {ways}"
    ]
    for item in front["front"]:
        values = (
            "  ".join(f"{name} {figures(value, 6)}" for name, value in item["metrics"].items())
            or f"score {figures(item['score'], 6)}"
        )
        lines.append(
            f"  {item['program_id'][:12]}  {values}  by "
            f"{item['operator']}{'  champion' if item['champion'] else ''}"
        )
    return lines
