"""The champion against its parent, its seed or a rival, formula by formula."""

from __future__ import annotations

from typing import Any

import polars as pl

from evolake.report.figures import Figure
from evolake.solvers.report.material import Material, rival_of, title_of


def draw_formula_by_formula(material: Material) -> bytes:
    """Draw one dot per formula that both were run on."""
    from evolake.solvers.report.plots import Meeting, scatter

    runs, champion, rows = material.population.runs, material.champion, material.rows
    compared, role = rival_of(material.population, champion)
    first, second = (_first_runs(runs, name) for name in (compared, champion["variant_id"]))
    shared = sorted(first.keys() & second.keys())
    return scatter(
        [
            Meeting(name, _seconds(first[name]), _seconds(second[name]), first[name]["expected"])
            for name in shared
        ],
        material.timeout_s,
        f"{role}: {title_of(rows[compared])}",
        f"champion: {title_of(champion)}",
        f"The champion and its {role}, formula by formula",
    )


def _first_runs(runs: pl.DataFrame, variant_id: str) -> dict[str, dict[str, Any]]:
    return {
        row["instance"]: row
        for row in runs.filter((pl.col("variant_id") == variant_id) & (pl.col("repeat") == 0)).to_dicts()
    }


def _seconds(row: dict[str, Any]) -> float | None:
    return row["cpu_s"] if row["solved"] else None


FIGURE = Figure("Formula by formula", draw_formula_by_formula, order=3, asset="survivors")
