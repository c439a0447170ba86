"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.gates import load_rules
from evolake.lake.added_seeds import seeds_of
from evolake.programs.evolution.added_seeds import SEEDS
from evolake.programs.evolution.writer_session import writes_in_sessions
from evolake.programs.roles import WRITER, WRITER_GROUP, WRITER_SESSION
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import PINNED
from evolake.settings import Settings


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of one cycle: a session for each candidate of every project, or calls for several
    candidates and a revision of each that is worth it: one in three, until a lake says otherwise. A candidate
    that such a call gives no program of is asked for alone. Its projects are those of the lake, wherever
    their folders are now, and those that enter next."""
    own = settings.of(ProgramsSettings)
    new = start.new_seeds(
        lambda: seeds_of(SEEDS, settings), load_rules(settings.seeds / "rules", "programs").hash
    )
    projects = {item.name for item in new}.union(start.state.get(PINNED, {}))
    candidates = len(projects) * own.generations_per_cycle * own.candidates_per_generation
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
