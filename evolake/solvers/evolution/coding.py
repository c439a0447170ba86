"""Who carries out which plan of a cycle: what is submitted is taken as it is, the rest is written by whom the
setting `coder` names."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from evolake.agents import Agents
from evolake.agents.session_roles import require_model
from evolake.settings import Settings
from evolake.solvers.evolution.coder_command import PREFIX, CommandAuthor, words_of
from evolake.solvers.evolution.proposing.coder_turn import WhoElse
from evolake.solvers.evolution.submissions import SubmissionAuthor, is_submitted
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.roles.coder_session import CODER_SESSION


@dataclass(frozen=True)
class Coding:
    """author: plan -> who carries it out; None: the roles of the coder. runs: gives rows of CODER_RUNS, once
    all is done."""

    author: WhoElse
    runs: Callable[[], list[dict[str, Any]]]


def check_coder(settings: Settings) -> None:
    """Raise InputError where the setting `coder` cannot be followed; makes nothing."""
    require_model("a coder", CODER_SESSION, settings.coder, settings.backend)
    if settings.coder.startswith(PREFIX):
        words_of(settings.coder)


@contextmanager
def coding(settings: Settings, agents: Agents, workspace: Workspace, cycle: str) -> Generator[Coding]:
    """Open what the coder of these settings needs.

    Raises:
        InputError: as `check_coder`. JailUnavailable: a session's tools have no jail.
    """
    check_coder(settings)
    submitted = SubmissionAuthor(workspace.blobs)
    if settings.coder == "session":
        from evolake.jail import open_pool
        from evolake.solvers.evolution.coder_session import SessionAuthor, Shop

        shop = Shop(
            workspace.blobs,
            workspace.cache,
            workspace.limits,
            lambda: workspace.suite("smoke"),
            workspace.trial_suite,
            cycle,
        )
        with open_pool(workers=1, preload=()) as pool:
            session = SessionAuthor(agents, pool.call, shop)
            yield Coding(lambda plan: submitted if is_submitted(plan) else session, list)
        return
    command = None
    if settings.coder.startswith(PREFIX):
        command = CommandAuthor(words_of(settings.coder), settings.coder_timeout_s, workspace.blobs, cycle)
    yield Coding(
        lambda plan: submitted if is_submitted(plan) else command, lambda: command.runs if command else []
    )
