"""Who is champion of each project: the best of the search against the one that holds the title, side by side
under seeds the search never had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import assets.programs.judge  # noqa: F401  # pyright: ignore[reportUnusedImport]  (what is read is defined first)
from assets.programs.evolve import entries_of
from assets.programs.line import archive, line, project_named
from assets.store import LineStore
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import DECISIONS, JOURNAL, MEASURED

if TYPE_CHECKING:
    from evolake.programs.evolution.archive import Islands
    from evolake.programs.evolution.population import Population
    from evolake.programs.model.project import Project

NOTES = "duel_notes"
"""Table of what a duel has measured so far, seed by seed: a run that is killed in one continues with it."""


def islands_after(
    store: LineStore,
    population: Population,
    project: Project,
    generations: pl.DataFrame,
    accepted: pl.DataFrame,
) -> Islands:
    """Return the living programs of a project after the cycle's generations, less what a gate has blocked;
    its champion is marked."""
    from evolake.programs.evolution.archive import Islands

    own = generations.filter(pl.col("project") == project.name)
    blocked = set(accepted.filter(~pl.col("passed"))["program_id"])
    entries = entries_of(store, own)
    rows = entries[-1].islands if entries else population.rows(project.name, "accepted", "champion")
    champion = population.champion(project.name)
    held = {row["program_id"]: row for row in rows if row["program_id"] not in blocked}
    held[champion["program_id"]] = held.get(champion["program_id"], champion) | {"state": "champion"}
    return Islands(project, store.settings.of(ProgramsSettings), held)


@line.asset(schema=DECISIONS, kinds={"bubblewrap"})
def champion(
    store: LineStore, projects: pl.DataFrame, generations: pl.DataFrame, accepted: pl.DataFrame
) -> pl.DataFrame:
    """One decision per project. The title changes only where the challenger is better by more than the noise
    that is measured with it."""
    from evolake.programs.evolution.champion import DuelNotes, decide_champion

    population = archive(store)
    rows: list[dict[str, Any]] = []
    measured: list[dict[str, Any]] = []
    before = store.rows(NOTES) if store.has(NOTES) else []
    notes = {(row["project"], row["generation"]): row for row in before}

    def noted(row: dict[str, Any]) -> None:
        notes[row["project"], row["generation"]] = row
        store.extra(JOURNAL, notes.values(), NOTES)

    for project in projects.sort("project").to_dicts():
        built = project_named(store, project["project"], project["blob_sha"], project["mode"])
        islands = islands_after(store, population, built, generations, accepted)
        succession = decide_champion(
            built,
            islands,
            population,
            store.blobs,
            own=store.settings.of(ProgramsSettings),
            cycle_seeds=store.seeds,
            mode=store.settings.jail,
            notes=DuelNotes(before, noted),
        )
        rows.append(succession.decision)
        measured += succession.measured
        store.log(f"{built.name}: {succession.decision['reason']}")
    store.extra(MEASURED, measured, "heldout")
    details: dict[str, Any] = {row["project"]: row["reason"] for row in rows}
    store.tell({"changed": sum(row["wins"] for row in rows)} | details)
    return DECISIONS.frame(rows)
