"""Projects as what may enter a line that has begun: each folder is known by its files, and stays in the line
as it was when it entered."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.gates import GateResults, Ruleset
from evolake.lake import BlobStore, Lake
from evolake.lake.added_seeds import SeedItem, SeedSource
from evolake.programs.evolution.generations import judge, judged_row, size_of
from evolake.programs.evolution.outcome import LINE, search_seeds
from evolake.programs.evolution.population import Birth, Row, islands_of, program_row, texts_bytes
from evolake.programs.gates import Candidate
from evolake.programs.model.project import (
    Project,
    files_sha,
    is_project,
    load_project,
    pack_files,
    project_folders,
    read_files,
)
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """Return the projects there are, by name. settings: of this process; None: those that are loaded."""
    from evolake import settings as settings_module

    own = (settings or settings_module.load()).of(ProgramsSettings)
    return [_item(folder) for folder in project_folders(own, seeds)]


def _item(folder: Path) -> SeedItem:
    name = folder.resolve().name
    try:
        files = read_files(folder)
    except InputError as error:
        return SeedItem(
            name, hashlib.sha256(str(error).encode()).hexdigest(), partial(refuse, error), path=folder
        )

    def pack() -> bytes:
        load_project(folder)  # whose InputError says why it cannot enter
        return pack_files(files)

    return SeedItem(name, files_sha(files), pack, path=folder)


def refuse(error: InputError) -> bytes:
    """Raise the reason why a folder cannot be read, when it would enter: other projects are not held up by
    it."""
    raise error


def held_with_other_files(lake: Lake, folder: Path) -> bool:
    """Return whether the line holds a project of the folder's name that entered with other files than the
    folder has now.

    The line continues with the files that entered; those of the folder are not read again.
    """
    cycles = lake.cycles(LINE, "projects")
    rows = lake.read(LINE, "projects", cycles[-1]).to_dicts() if cycles else []
    held = {row["project"]: row["project_sha"] for row in rows}
    name = folder.resolve().name
    return name in held and held[name] != files_sha(read_files(folder))


def check(path: Path) -> str:
    """Raise InputError if the folder is no project."""
    return load_project(path).name


SEEDS = SeedSource("programs", items, is_project, check)


def initial_row(project: Project, number: int, cycle: str, blobs: BlobStore) -> Row:
    """Return the row of a project's initial program, before anything is known of it."""
    birth, texts = Birth(cycle, 0, number, "initial", (), project.name), project.evolving
    return program_row(project, texts, birth, files_sha=blobs.put(texts_bytes(texts)), size=size_of(texts))


def admit(
    project: Project,
    own: ProgramsSettings,
    ruleset: Ruleset,
    blobs: BlobStore,
    *,
    cycle: str,
    run_id: str,
    root_seed: int,
    mode: str | None,
) -> tuple[Row, GateResults]:
    """Return the initial program through the gates: its row, on every island of its project, or blocked."""
    project = with_mode(project, own, mode)
    row = initial_row(project, 0, cycle, blobs)
    with Evaluator(project, own, mode=mode) as evaluator:
        candidate = Candidate(
            project.evolving, row["program_id"], evaluator, search_seeds(project, own, root_seed)
        )
        try:
            results = judge(candidate, ruleset, blobs, cycle=cycle, run_id=run_id)
        except InputError as error:
            raise InputError(
                f"project {project.name} cannot enter", got=str(error), do="evolake programs check DIR"
            ) from None
        judged = judged_row(row, candidate, results)
    return judged | ({"islands": list(range(islands_of(project, own)))} if results.accepted else {}), results
