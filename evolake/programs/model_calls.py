"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.role_calls import RoleCalls, asked
from evolake.programs.evolution.writer_session import writes_in_sessions
from evolake.programs.model.project import project_folders
from evolake.programs.roles.writer import WRITER
from evolake.programs.roles.writer_session import WRITER_SESSION
from evolake.programs.settings import ProgramsSettings
from evolake.settings import Settings


def model_calls(settings: Settings, *, first: bool, seeds: bool) -> list[RoleCalls]:
    """Return the calls of one cycle: a session for each candidate of every project, or a reply and its revision."""
    own = settings.of(ProgramsSettings)
    candidates = len(project_folders(own, *settings.seed_folders)) * own.generations_per_cycle * own.candidates_per_generation
    if writes_in_sessions(own, "model"):
        return asked([RoleCalls(WRITER_SESSION, candidates, candidates, data=4000, reply=1500)])
    return asked([RoleCalls(WRITER, candidates * (1 + own.revisions), candidates * (1 + own.revisions), data=4000, reply=1500)])
