"""How often a cycle asks each role, as a line says it from its settings. `evolake.agents.forecast` makes
tokens and US dollars of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evolake.agents.roles import Role

TYPICAL_DATA, TYPICAL_REPLY = 1500, 800
"""Tokens that a request holds in addition to its prompt file, and of a reply, if neither a line nor earlier
cycles say it."""
TYPICAL_TURNS = 8
"""Turns of a session, if no earlier cycle says it."""


@dataclass(frozen=True)
class RoleCalls:
    """How often one cycle asks a role.

    Attributes:
        role: a role with tools is a session, whose turns are calls.
        most: requests that the settings allow. likely: requests that a cycle probably makes.
        data: tokens that a request probably holds in addition to its prompt file. reply: tokens of a probable
            reply.
        longest: tokens of the longest reply, if they differ from `EVOLAKE_MODEL_MAX_OUTPUT_TOKENS`.
        repairs: whether a reply that does not fit is asked for again.
        file: whether it has a prompt file. always: whether a model is asked whatever the backend is.
    """

    role: Role[Any, Any]
    most: int
    likely: float
    data: int = TYPICAL_DATA
    reply: int = TYPICAL_REPLY
    longest: int | None = None
    repairs: bool = True
    file: bool = True
    always: bool = False


def asked(calls: Iterable[RoleCalls]) -> list[RoleCalls]:
    """Return those that are asked at all."""
    return [item for item in calls if item.most > 0]
