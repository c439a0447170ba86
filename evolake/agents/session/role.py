"""Roles that are sessions: a declaration for each, and the check that a model is there to hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from pydantic import BaseModel

from evolake.agents.roles import RequestT, Role
from evolake.agents.session.tools import CommandSpec, offered
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
