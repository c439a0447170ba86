"""The figures of the solvers line, from its archive and the lake to PNG bytes. Used by the assets' metadata and by the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.solvers.evolution.population import Population

if TYPE_CHECKING:
    from evolake.lake import Lake

LINE = "solvers"


def cycle_figures(lake: Lake, cycle: str, population: Population) -> dict[str, bytes]:
    """Title -> PNG. `population` is the one that leaves the cycle; tables of later cycles are not looked at."""
    from evolake.plots.solvers import cactus, par2_trajectory, scatter

    rows = {row["variant_id"]: row for row in population.rows()}
    champion = population.rows("champion")[0]
    runs = population.runs
    timeout = float(runs["timeout_s"].max() or 0.0)  # pyright: ignore[reportArgumentType]
    names = {name: title_of(rows[name]) for name in rows}
    compared, role = rival_of(population, champion)
    return {
        "Cactus plot": cactus(_times(runs, rows, champion["variant_id"]), timeout, "Formulas of the suite train solved within a time"),
        "PAR-2 by cycle": par2_trajectory(*_trajectory(lake, cycle, names, population)),
        "Formula by formula": scatter(
            _meetings(runs, compared, champion["variant_id"]), timeout, f"{role}: {names[compared]}", f"champion: {names[champion['variant_id']]}",
            f"The champion and its {role}, formula by formula",
        ),
        "Genealogy": _genealogy(population, champion["variant_id"]),
    }


def rival_of(population: Population, champion: dict[str, Any]) -> tuple[str, str]:
    """Whom the champion is drawn against, and in which role: its parent, its seed where the parent's runs are gone, or, for a seed, its rival."""
    measured = set(population.runs["variant_id"])
    if champion["parents"]:
        parent = champion["parents"][0]
        return (parent, "parent") if parent in measured else (population.seed_of(champion["base"])["variant_id"], "seed")
    rivals = [row["variant_id"] for row in population.ranking.sort("rank").to_dicts() if row["variant_id"] != champion["variant_id"]]
    return next((name for name in rivals if name in measured), champion["variant_id"]), "rival"


def title_of(row: dict[str, Any], longest: int = 34) -> str:
    """A variant's name on a figure. A long title is cut; the id after it stays whole."""
    from evolake.plots.style import short

    mark = "" if row["operator"] == "seed" else f" ({row['variant_id'][:6]})"
    return short(row["title"], longest - len(mark)) + mark


def _times(runs: pl.DataFrame, rows: dict[str, dict[str, Any]], champion_id: str) -> list[Any]:
    from evolake.plots.solvers import SolverTimes

    found = []
    for (variant_id,), part in sorted(runs.group_by("variant_id"), key=lambda item: str(item[0])):
        row = rows[str(variant_id)]
        kind = "champion" if variant_id == champion_id else "seed" if row["operator"] == "seed" else "other"
        found.append(SolverTimes(title_of(row, 26), part.filter(pl.col("solved"))["cpu_s"].to_list(), kind))
    return found


def _trajectory(lake: Lake, cycle: str, names: dict[str, str], population: Population) -> tuple[list[Any], dict[str, float]]:
    from evolake.plots.solvers import Par2Point

    points, seeds = [], {row["variant_id"] for row in population.seeds()}
    last: dict[str, float] = {}
    for each in (key for key in lake.cycles(LINE, "metrics") if key <= cycle):
        last = dict(lake.read(LINE, "metrics", each).select("variant_id", "par2").iter_rows())
        decisions = lake.read(LINE, "champion", each).to_dicts()
        winner = max((row for row in decisions if row["wins"]), key=lambda row: row["ratio"], default=None)
        reigning = winner["challenger_id"] if winner else decisions[0]["champion_id"] if decisions else min(last, key=lambda name: last[name])
        fresh = set(lake.read(LINE, "benchmark_runs", each)["variant_id"]) - seeds
        points.append(Par2Point(each, last.get(reigning, float("nan")), [last[name] for name in sorted(fresh) if name in last]))
    return points, {names[name]: last[name] for name in sorted(seeds) if name in last}


def _meetings(runs: pl.DataFrame, first: str, second: str) -> list[Any]:
    from evolake.plots.solvers import Meeting

    sides = {
        name: {row["instance"]: row for row in runs.filter((pl.col("variant_id") == name) & (pl.col("repeat") == 0)).to_dicts()}
        for name in (first, second)
    }
    shared = sorted(sides[first].keys() & sides[second].keys())
    return [Meeting(name, _seconds(sides[first][name]), _seconds(sides[second][name]), sides[first][name]["expected"]) for name in shared]


def _seconds(row: dict[str, Any]) -> float | None:
    return row["cpu_s"] if row["solved"] else None


def _genealogy(population: Population, champion_id: str) -> bytes:
    from evolake.plots import Ancestor, genealogy

    people = [Ancestor(row["variant_id"], row["cycle"], row["state"], row["title"]) for row in population.rows()]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in population.derivations.to_dicts()]
    return genealogy(people, edges, champion_id)
