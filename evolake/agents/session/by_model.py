"""Only a model holds sessions: what is said where operators are to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from evolake.errors import InputError, MachineryError

if TYPE_CHECKING:
    import numpy as np


def require_model(who: str, variable: str, chosen: str, backend: str) -> None:
    """Raises InputError where a role shall be a session and the backend is no model.

    who: the role in words, with its article. variable: of the environment, by which it was chosen. chosen: its value.
    """
    if chosen == "session" and backend != "model":
        raise InputError(
            f"{who} that is a session needs a model", wanted=f"--backend model with {variable}=session", got=f"the backend {backend}",
            do=f"set up a model, or unset {variable}",
        )


def no_operators(variable: str) -> Callable[[Any, np.random.Generator], NoReturn]:
    """What a session's role has in place of operators: it raises MachineryError."""
    def ask(request: Any, random: np.random.Generator) -> NoReturn:
        raise MachineryError("operators hold no sessions", do=f"unset {variable}, or use the model backend")

    return ask
