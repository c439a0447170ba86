"""The line itself, what all its assets share (the archive that entered the cycle, and its projects), and what
it starts from: the projects, each with its initial program through the same gates as everything else."""

from __future__ import annotations

import json
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import with_added_seeds, with_seeds
from assets.cycle import Line
from assets.rules import rules_asset
from assets.store import LineStore
from evolake.errors import InputError
from evolake.lazy import Lazy
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import ARCHIVE, PINNED, PROGRAMS, WORK_NOTES
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.gates import Verdict
    from evolake.lake.added_seeds import SeedItem
    from evolake.programs.evolution.outcome import WorkNotes
    from evolake.programs.evolution.population import Population
    from evolake.programs.model.project import Mode, Project


def _idle() -> str | None:
    from evolake.programs.requirements import nothing_to_do

    return nothing_to_do()


line = Line(
    "programs",
    "Programs of the user's own, evolved against an evaluator of the user's own.",
    owners=("team:evolake",),
    population=ARCHIVE,
    idle=_idle,
    artifact=lambda row: {
        "artifact_id": row["program_id"],
        "kind": "program",
        "content_sha": row["files_sha"],
        "title": f"{row['project']} {row['operator']} {row['number']}",
    },
    proposers={
        "generations": (Lazy("evolake.programs.roles:WRITER"), Lazy("evolake.programs.roles:WRITER_SESSION"))
    },
)
rules = rules_asset(line)


def archive(store: LineStore) -> Population:
    """Return the population that entered the cycle, with the initial programs of projects that entered in
    it."""
    from evolake.programs.evolution.population import Population

    return with_added_seeds(store, Population.of(store.population()), "programs")


def project_named(store: LineStore, name: str, blob_sha: str, mode: Mode | None = None) -> Project:
    """Return a project as it was when it entered. mode: how evaluator and program meet, where the cycle has
    found that."""
    from evolake.programs.model.project import project_of, unpack_files
    from evolake.programs.sandbox.meeting import with_mode

    project = project_of(name, unpack_files(store.blobs.get(blob_sha)))
    return (
        replace(project, mode=mode)
        if mode
        else with_mode(project, store.settings.of(ProgramsSettings), store.settings.jail)
    )


def work_notes(store: LineStore, table: str, project: str) -> WorkNotes:
    """Return what an earlier run of the cycle noted of long work on a project, and what notes more, in a
    table of the cycle. Several threads may note."""
    from evolake.canonical_json import canonical_json
    from evolake.programs.evolution.outcome import WorkNotes

    # rows without a place are those of an earlier version, which cannot be continued
    found = [row for row in store.rows(table) if "place" in row] if store.has(table) else []
    rows, lock = {(row["project"], row["place"]): row for row in found}, Lock()
    own = [row for row in found if row["project"] == project]
    held = {(row["place"], row["key"]): json.loads(store.blobs.get(row["entry_sha"])) for row in own}

    def note(place: int, key: str, known: Any) -> None:
        sha = store.blobs.put(canonical_json(known, ascii_only=True).encode())
        row = {"cycle": store.cycle, "project": project, "place": place, "key": key, "entry_sha": sha}
        with lock:
            part = rows[project, place]["part"] + 1 if (project, place) in rows else 1
            rows[project, place] = row | {"part": part}
            store.extra(WORK_NOTES, rows.values(), table)

    return WorkNotes(held, note)


REPAIR = (
    "`evolake programs check DIR` shows what is wrong with a project. Repair it, or name others in "
    "EVOLAKE_PROGRAMS__PROJECTS, and run again."
)


@line.seed_asset(deps=[rules], gates=(), schema=PROGRAMS, kinds={"bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Evaluate the initial program of every project; seal the population that enters cycle 0001. One that is
    blocked stays as a row and does not enter."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.programs.evolution.added_seeds import SEEDS, admit
    from evolake.programs.evolution.population import Population
    from evolake.programs.model.project import project_of, unpack_files

    store = LineStore(line, context, lake)
    settings, ruleset = store.settings, store.rules()
    rows: list[dict[str, Any]] = []
    used: list[SeedItem] = []
    verdicts: list[Verdict] = []
    pinned: dict[str, dict[str, Any]] = {}
    for item in seeds_of(SEEDS, settings):
        try:
            data = item.pack()
            project = project_of(item.name, unpack_files(data))
            row, results = admit(
                project,
                settings.of(ProgramsSettings),
                ruleset,
                store.blobs,
                cycle=store.cycle,
                run_id=store.run_id,
                root_seed=settings.seed,
                mode=settings.jail,
            )
        except InputError as error:
            store.refused(item.name, error.what)
            continue
        rows.append(row)
        used.append(item)
        verdicts += results.verdicts
        if results.accepted:
            pinned[item.name] = {
                "cycle": store.cycle,
                "sha": item.sha,
                "blob": store.blobs.put(data),
                "initial": row["program_id"],
            }
        store.log(f"{item.name}: {row['state']} {row['reason'] or ''} score {row['score']}")
    population = with_seeds(store, Population.empty().add(programs=rows), used, "programs", rows).with_values(
        **{PINNED: pinned}
    )
    store.may_seal(population.frames())
    store.artifacts(rows)
    store.verdicts(verdicts)
    summary = store.seal_seeds(rows, population.frames(), lacking="no project can be used", do=REPAIR)
    first = min((row for row in rows if row["state"] == "accepted"), key=lambda row: row["project"])
    store.champion(first["program_id"], first["score"])
    store.tell(
        {f"score_{row['project']}": row["score"] for row in rows if row["score"] is not None} | summary
    )
    return PROGRAMS.frame(rows)
