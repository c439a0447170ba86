"""The line itself, and what all its assets share: the archive that entered the cycle, and its projects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assets.added_seeds import with_added_seeds
from assets.cycle import Line
from assets.lake import rules_asset
from assets.store import LineStore
from evolake.lazy import Lazy
from evolake.programs.tables import ARCHIVE

if TYPE_CHECKING:
    from evolake.programs.evolution.population import Population
    from evolake.programs.model.project import Mode, Project

PROJECTS = "projects"
"""State: project -> cycle it entered in, sha of its files, blob with them, its initial program."""


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
        "generations": (
            Lazy("evolake.programs.roles.writer:WRITER"),
            Lazy("evolake.programs.roles.writer_session:WRITER_SESSION"),
        )
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
    from evolake.programs.settings import ProgramsSettings

    project = project_of(name, unpack_files(store.blobs.get(blob_sha)))
    return (
        replace(project, mode=mode)
        if mode
        else with_mode(project, store.settings.of(ProgramsSettings), store.settings.jail)
    )
