"""What the figures of the programs line are drawn from, in the assets' metadata and in the report; and the
Pareto front of a project with several declared metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


def on_same_seeds(rows: Sequence[Mapping[str, Any]], *, higher_is_better: bool) -> list[float | None]:
    """Return the held-out score of a project's champion after each cycle, as if all had been measured under
    the seeds of the newest one.

    Every cycle has seeds of its own, so that the means of two cycles differ even if the champion is the same.
    But in each contest champion and challenger meet under the same seeds. So the newest mean is taken, and
    before each change of the champion it is less by what that contest measured as the difference. Where a
    champion was replaced without a difference, as it failed, the means before are those of their own seeds.

    Args:
        rows: of DECISIONS, by cycle.
    """
    result: list[float | None] = []
    score: float | None = None
    for row in reversed(rows):
        score = row["holder_mean"] if score is None else score
        result.append(score)
        if row["wins"]:
            change = (
                row["difference"] if higher_is_better or row["difference"] is None else -row["difference"]
            )
            score = None if score is None or change is None else score - change
    return result[::-1]


def population_entering(lake: Lake, cycle: str) -> Population:
    """Return the population that was sealed for `cycle`."""
    return Population.of({name: lake.read(LINE, f"incoming_{name}", cycle) for name in ARCHIVE})


def simplified_of(lake: Lake, program: str) -> dict[str, Any] | None:
    """Return the row of PROGRAMS of what a program was simplified to, in the newest cycle that did; None if
    there is none."""
    for cycle in reversed(lake.cycles(LINE, "simplified_programs")):
        for row in lake.read(LINE, "simplified_programs", cycle).to_dicts():
            if row["parents"] == [program]:
                return row
    return None


def simplified_gain(lake: Lake, made: Mapping[str, Any] | None, *, higher: bool) -> float:
    """Return what to add to a champion's held-out mean for that of a row of `simplified_of`; 0 if there is
    none. higher: whether a higher score is better."""
    for cycle in reversed(lake.cycles(LINE, "simplified") if made else []):
        for row in lake.read(LINE, "simplified", cycle).to_dicts():
            if made and row["simplified_id"] == made["program_id"]:
                return (row["difference"] or 0.0) * (1 if higher else -1)
    return 0.0


def simplified_in_words(lake: Lake, program: str) -> str:
    """Return what a program was simplified to, how much shorter that is, and how they compare; "" if there is
    none."""
    made = simplified_of(lake, program)
    if made is None:
        return ""
    for cycle in reversed(lake.cycles(LINE, "simplified")):
        for row in lake.read(LINE, "simplified", cycle).to_dicts():
            if row["simplified_id"] == made["program_id"]:
                return (
                    f"{made['program_id'][:12]}, {row['simplified_size']:,} of {row['size']:,} characters, "
                    f"by {row['trials']:,} trials: {row['reason']} (mean difference {row['difference']:+.3g})"
                )
    return ""


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
