"""The figures of the solvers line, from its archive and the lake (`material.Material`) to PNG bytes."""

from __future__ import annotations

from typing import Any

import polars as pl

from evolake.report.figures import Figure
from evolake.solvers.report.material import Material, rival_of, title_of


def draw_cactus_plot(material: Material) -> bytes:
    """Draw one curve per variant that was measured."""
    from evolake.solvers.report.plots import SolverTimes, cactus

    rows, champion_id = material.rows, material.champion["variant_id"]
    times = []
    for (variant_id,), part in sorted(
        material.population.runs.group_by("variant_id"), key=lambda item: str(item[0])
    ):
        row = rows[str(variant_id)]
        if variant_id == champion_id:
            kind = "champion"
        elif row["operator"] == "seed":
            kind = "seed"
        else:
            kind = "other"
        times.append(SolverTimes(title_of(row), part["cpu_s"].filter(part["solved"]).to_list(), kind))
    return cactus(times, material.timeout_s, "Formulas of the suite train solved within a time")


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


def draw_genealogy(material: Material) -> bytes:
    """Return every variant, the champion's ancestry marked."""
    from evolake.plots import Ancestor, genealogy

    people = [
        Ancestor(row["variant_id"], row["cycle"], row["state"], row["title"])
        for row in material.population.rows()
    ]
    edges = [
        (row["parent_id"], row["child_id"], row["weight"])
        for row in material.population.derivations.to_dicts()
    ]
    return genealogy(people, edges, material.champion["variant_id"])


LINE = "solvers"


def draw_par2_by_cycle(material: Material) -> bytes:
    """Draw one point per cycle."""
    from evolake.solvers.report.plots import Par2Point, par2_trajectory

    lake, rows = material.lake, material.rows
    points, seeds = [], {row["variant_id"] for row in material.population.seeds()}
    last: dict[str, float] = {}
    for each in (key for key in lake.cycles(LINE, "metrics") if key <= material.cycle):
        last = dict(lake.read(LINE, "metrics", each).select("variant_id", "par2").iter_rows())
        decisions = lake.read(LINE, "champion", each).to_dicts()
        winner = max((row for row in decisions if row["wins"]), key=lambda row: row["ratio"], default=None)
        if winner:
            champion_id = winner["challenger_id"]
        elif decisions:
            champion_id = decisions[0]["champion_id"]
        else:
            champion_id = min(last, key=lambda name: last[name])
        fresh = set(lake.read(LINE, "benchmark_runs", each)["variant_id"]) - seeds
        points.append(
            Par2Point(
                each,
                last.get(champion_id, float("nan")),
                [last[name] for name in sorted(fresh) if name in last],
            )
        )
    return par2_trajectory(
        points, {title_of(rows[name]): last[name] for name in sorted(seeds) if name in last}
    )


FIGURES = (
    Figure("Cactus plot", draw_cactus_plot, order=1, asset="survivors"),
    Figure("PAR-2 by cycle", draw_par2_by_cycle, order=2, asset="survivors"),
    Figure("Formula by formula", draw_formula_by_formula, order=3, asset="survivors"),
    Figure("Genealogy", draw_genealogy, order=4, asset="survivors"),
)
