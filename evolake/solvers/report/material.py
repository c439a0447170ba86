"""What page and figures of the solvers line are made from: tables read from the lake, up to the cycle and
no further, and what several figures ask. Used by the assets' metadata and by the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Lake, following
from evolake.report.finished_cycle import FinishedCycle, passed_gates, questions, read_cycle
from evolake.solvers.evolution.population import Population, population_of
from evolake.solvers.gates.specs import GATE_NAMES
from evolake.solvers.measurement.metrics import UNCHECKED, UNPROVED, UNSAT, UNSOUND, VERIFIED, counted
from evolake.solvers.tables import ARCHIVE, CONTEST_FAMILIES


@dataclass(frozen=True)
class Material:
    """The lake, and the population that leaves `cycle`; tables of later cycles are not looked at."""

    lake: Lake
    cycle: str
    population: Population

    @property
    def champion(self) -> dict[str, Any]:
        """Row of VARIANTS."""
        return self.population.rows("champion")[0]

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Variant id -> row of VARIANTS."""
        return {row["variant_id"]: row for row in self.population.rows()}

    @property
    def timeout_s(self) -> float:
        """The longest limit of a run."""
        return float(self.population.runs["timeout_s"].max() or 0.0)  # pyright: ignore[reportArgumentType]


def rival_of(population: Population, champion: dict[str, Any]) -> tuple[str, str]:
    """Whom the champion is drawn against, and in which role: its parent, its seed where the parent's runs are
    gone, or, for a seed, its rival."""
    measured = set(population.runs["variant_id"])
    if champion["parents"]:
        parent = champion["parents"][0]
        return (
            (parent, "parent")
            if parent in measured
            else (population.seed_of(champion["base"])["variant_id"], "seed")
        )
    rivals = [
        row["variant_id"]
        for row in population.ranking.sort("rank").to_dicts()
        if row["variant_id"] != champion["variant_id"]
    ]
    return next((name for name in rivals if name in measured), champion["variant_id"]), "rival"


def title_of(row: dict[str, Any]) -> str:
    """Return a variant's name on a figure."""
    return row["title"] + ("" if row["operator"] == "seed" else f" ({row['variant_id'][:6]})")


LINE = "solvers"
RUN_TABLES = {
    "smoke": "gate smoke",
    "correctness": "gate correctness",
    "stability_runs": "gate stability",
    "benchmark_runs": "suite train",
    "champion_trials": "duels",
    "holdout_runs": "suite holdout",
}
"""Every table that holds runs, each run in one of them (`gate_runs` holds copies), with what it is called on
the page."""

COUNTS = ("runs", "unsat", "verified", "unproved", "unchecked", "unsound")
"""Of runs: all, UNSAT answers, and of those the ones with a verified proof, without one though it was asked
for, outside the checked share; last, answers of either kind that are refuted (see `measurement.metrics`)."""


@dataclass(frozen=True)
class SolversReport:
    """What the section of one cycle shows next to its questions' answers. `population` leaves the cycle.

    champion: its row of VARIANTS. base: that of the seed that it descends from. parent: that of its first
    parent, None for a seed. diff: against the parent. decisions: rows of DECISIONS of the cycle. families:
    rows of CONTEST_FAMILIES of it. runs: one row per table and state of variant: part, state, and COUNTS.
    state: accepted (retired ones and champions too) or blocked.
    """

    shared: FinishedCycle
    population: Population
    champion: dict[str, Any]
    base: dict[str, Any]
    parent: dict[str, Any] | None
    diff: str
    decisions: list[dict[str, Any]]
    families: list[dict[str, Any]]
    metrics: pl.DataFrame
    runs: pl.DataFrame


def read_report(root: Path, cycle: str) -> SolversReport:
    """Return the report of `cycle`.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    shared = read_cycle(root, LINE, cycle, QUESTIONS)
    lake = shared.lake
    population = population_of(
        {name: lake.read(LINE, f"incoming_{name}", following(cycle)) for name in ARCHIVE}
    )
    champion = population.row(shared.champion.artifact_id)
    diff = champion["diff_sha"]
    return SolversReport(
        shared=shared,
        population=population,
        champion=champion,
        base=population.seed_of(champion["base"]),
        parent=population.row(champion["parents"][0]) if champion["parents"] else None,
        diff=lake.blobs.get(diff).decode("utf-8", "replace") if diff else "",
        decisions=lake.read(LINE, "champion", cycle).to_dicts(),
        families=families_of(lake, cycle),
        metrics=lake.read(LINE, "metrics", cycle),
        runs=_runs(shared.tables["runs"], population),
    )


def families_of(lake: Lake, cycle: str) -> list[dict[str, Any]]:
    """Return the rows of CONTEST_FAMILIES of a cycle."""
    return lake.read(LINE, CONTEST_FAMILIES.name, cycle).to_dicts()


def _runs(counted: pl.DataFrame, population: Population) -> pl.DataFrame:
    """Return runs of all tables, counted by what became of the variant."""
    states = population.variants.select(
        "variant_id", pl.col("state").replace({"champion": "accepted", "retired": "accepted"})
    )
    known = counted.join(states, on="variant_id", how="left", maintain_order="left").with_columns(
        pl.col("state").fill_null("unknown")
    )
    return known.group_by("part", "state", maintain_order=True).agg(pl.col(*COUNTS).sum())


QUESTIONS = questions("evolake.solvers.report", "page.sql", passed=passed_gates(GATE_NAMES)) | {
    "runs": " UNION ALL ".join(
        f"""SELECT {place} AS place, '{part}' AS part, variant_id, count(*) AS runs,
        {counted(UNSAT)} AS unsat, {counted(VERIFIED)} AS verified, {counted(UNPROVED)} AS unproved,
        {counted(UNCHECKED)} AS unchecked,
        {counted(UNSOUND)} AS unsound FROM {LINE}.{table} WHERE cycle <= $cycle GROUP BY variant_id"""
        for place, (table, part) in enumerate(RUN_TABLES.items())
    )
    + " ORDER BY place, variant_id"
}
