"""The Pareto front of a project with several declared metrics: its programs, in words and as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evolake.programs.evolution.population import LIVING
from evolake.programs.report.material import Material
from evolake.report.gain import figures


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
