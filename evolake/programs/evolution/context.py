"""What the generations of one project share in a cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evolake.agents import AgentFailure, Agents, Reply
from evolake.gates import Ruleset
from evolake.lake import BlobStore
from evolake.programs.model.project import Project
from evolake.programs.roles.writer import WriterReply, WriterRequest
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed

LINE = "programs"


class SessionWriting(Protocol):
    """Writes children in sessions: `writer_session.SessionWriter`."""

    def write(
        self,
        context: Context,
        request: WriterRequest,
        *,
        seed: int,
        attempt: int,
        side: str,
        keep: Callable[[Sequence[Mapping[str, Any]]], None],
    ) -> Reply[WriterReply | AgentFailure]:
        """Return what the session wrote, or why it ended without a program. side: of its evaluations' rows of
        MEASURED, which `keep` takes."""
        ...


@dataclass(frozen=True)
class Context:
    """What the generations of a project share. session: who writes in sessions; None: the writer is asked
    once for each child, and once more if it may revise. waves: of requests to a model in one generation.
    turns: that a session may take, for its prompt."""

    evaluator: Evaluator
    own: ProgramsSettings
    agents: Agents
    blobs: BlobStore
    ruleset: Ruleset
    cycle: str
    run_id: str
    root_seed: int
    workers: int
    guidance: Sequence[str] = ()
    session: SessionWriting | None = None
    waves: int = 2
    turns: int = 0

    @property
    def project(self) -> Project:
        """The project."""
        return self.evaluator.project

    def seeds(self) -> list[int]:
        """Of a candidate's evaluations: the same for all of a project, so that scores can be compared."""
        return search_seeds(self.project, self.own, self.root_seed)


def search_seeds(project: Project, own: ProgramsSettings, root_seed: int) -> list[int]:
    """Return seeds of the evaluations that candidates are ranked by."""
    return [
        child_seed(root_seed, LINE, "search", project.name, place)
        for place in range(project.given.evaluator.repeats or own.repeats)
    ]
