"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.forecast import RoleCalls, asked
from evolake.programs.evolution.writer_session import writes_in_sessions
from evolake.programs.model.project import project_folders
from evolake.programs.roles import WRITER, WRITER_GROUP, WRITER_SESSION
from evolake.programs.settings import ProgramsSettings
from evolake.settings import Settings


def model_calls(settings: Settings, *, first: bool, seeds: bool) -> list[RoleCalls]:
    """Return the calls of one cycle: a session for each candidate of every project, or calls for several
    candidates and a revision of each that is worth it: one in three, until a lake says otherwise. A candidate
    that such a call gives no program of is asked for alone."""
    own = settings.of(ProgramsSettings)
    candidates = (
        len(project_folders(own, *settings.seed_folders))
        * own.generations_per_cycle
        * own.candidates_per_generation
    )
    if writes_in_sessions(own, "model"):
        return asked([RoleCalls(WRITER_SESSION, candidates, candidates, data=4000, reply=1500)])
    revisions = candidates * own.revisions
    if own.candidates_per_call == 1:
        return asked(
            [RoleCalls(WRITER, candidates + revisions, candidates + revisions / 3, data=2500, reply=1500)]
        )
    wave = -(-own.candidates_per_generation // min(settings.agents.waves, own.candidates_per_generation))
    size = min(wave, own.candidates_per_call)
    return asked(
        [
            RoleCalls(WRITER_GROUP, candidates // 2, candidates / size, data=3000, reply=1500 * size),
            RoleCalls(WRITER, candidates + revisions, revisions / 3, data=2500, reply=1500),
        ]
    )
