"""Roles that are sessions: a declaration for each, and the check that a model is there to hold it. A line
fills a `SessionSpec`; `hold_session` binds the commands, holds the session, and turns its end into the line's
reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from pydantic import BaseModel

from evolake.agents.agents import Agents
from evolake.agents.roles import AgentFailure, OtherT, Reply, RequestT, Role
from evolake.agents.session_tools import (
    Call,
    Command,
    CommandReport,
    CommandSpec,
    SessionContext,
    Workspace,
    offered,
)
from evolake.agents.wire import Turn
from evolake.errors import InputError, MachineryError

if TYPE_CHECKING:
    import numpy as np


CardT = TypeVar("CardT", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class SessionRole(Role[RequestT, Turn], Generic[RequestT, CardT]):
    """A role that is a session.

    Attributes:
        card: the model that its last call, `finish`, is called with.
        commands: the commands that it offers.
        setting: the environment variable that asks for it.
    """

    card: type[CardT]
    commands: tuple[CommandSpec, ...]
    setting: str


def session_role(
    name: str,
    request: type[RequestT],
    card: type[CardT],
    *,
    setting: str,
    commands: tuple[CommandSpec, ...] = (),
    values: Callable[[RequestT], Mapping[str, Any]] | None = None,
) -> SessionRole[RequestT, CardT]:
    """Declare a role that is a session. values: as in `Role`."""
    return SessionRole(
        name,
        request,
        Turn,
        _no_operators(setting),
        tools=offered(commands, card),
        values=values,
        card=card,
        commands=commands,
        setting=setting,
    )


def require_model(who: str, role: SessionRole[Any, Any], chosen: str, backend: str) -> None:
    """Raise InputError where a role shall be a session and the backend is no model.

    who: the role in words, with its article. chosen: the value of its setting.
    """
    if chosen == "session" and backend != "model":
        raise InputError(
            f"{who} that is a session needs a model",
            wanted=f"--backend model with {role.setting}=session",
            got=f"the backend {backend}",
            do=f"set up a model, or unset {role.setting}",
        )


def _no_operators(variable: str) -> Callable[[Any, np.random.Generator], NoReturn]:
    """Return what a session's role has in place of operators: it raises MachineryError."""

    def ask(request: Any, random: np.random.Generator) -> NoReturn:
        raise MachineryError("operators hold no sessions", do=f"unset {variable}, or use the model backend")

    return ask


RunCommand = Callable[[Path, Any], str | CommandReport]
"""(folder with a copy of the workspace, arguments) -> what the command says, or a report with rows.

What a candidate does wrong is in the text; what it raises is ours.
"""


class Unusable(Exception):
    """The files that a session left make no reply; the text says why."""


@dataclass(frozen=True)
class SessionSpec(Generic[CardT, OtherT]):
    """One session.

    Attributes:
        role: the session's role. request: what the model is sent first.
        workspace: the files that it begins with, and which of them may be edited.
        to_reply: (card, workspace at the end) -> the line's reply, and nothing else that it depends on;
            raises Unusable.
        commands: what runs each command that the role offers.
        folder: where the workspace was read from; None if its files are all that there is.
        reference: makes the files that may be read in addition to the workspace's (see `SessionContext`).
        keep: takes the rows of each command's report, also when the session is replayed.
        must_change: as in `SessionContext`.
    """

    role: SessionRole[Any, CardT]
    request: BaseModel
    workspace: Workspace
    to_reply: Callable[[CardT, Workspace], OtherT]
    commands: Mapping[str, RunCommand] = field(default_factory=dict)
    folder: Path | None = None
    reference: Callable[[], Mapping[str, str]] = dict
    keep: Callable[[Sequence[Mapping[str, Any]]], None] = lambda rows: None
    must_change: bool = True


def hold_session(
    agents: Agents,
    spec: SessionSpec[CardT, OtherT],
    call: Call,
    *,
    seed: int,
    artifact_id: str | None = None,
    attempt: int = 0,
) -> Reply[OtherT | AgentFailure]:
    """Hold a session, and return what it ended with as a reply like any other; an AgentFailure with a typed
    status if it was not finished.

    A session that is finished with files that make no reply gets the reason as the result of `finish`, and
    continues.

    Args:
        call: of the jail in which the file tools run. seed, artifact_id, attempt: as in `Agents.call`.
    """
    role = spec.role
    commands = {
        name: Command(name, description, arguments, spec.commands[name])
        for name, description, arguments in role.commands
    }
    context = SessionContext(
        spec.workspace,
        spec.folder,
        role.card,
        call,
        commands,
        spec.reference,
        finish_fault=lambda card: _finish_fault(spec, card),
        keep=spec.keep,
        must_change=spec.must_change,
    )
    ended = agents.session(role, spec.request, context, seed=seed, artifact_id=artifact_id, attempt=attempt)
    if not isinstance(card := ended.value, role.card):
        assert isinstance(card, AgentFailure)
        return ended.with_value(card)
    return ended.with_value(spec.to_reply(card, spec.workspace))


def _finish_fault(spec: SessionSpec[CardT, Any], card: CardT) -> str:
    """Return why the files make no reply, "" if they do."""
    try:
        spec.to_reply(card, spec.workspace)
    except Unusable as error:
        return str(error).rstrip(".") or "they cannot be used"
    return ""
