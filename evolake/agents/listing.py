"""What is on a call cache: its entries, each with whether its reply is valid today, and a choice among
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from evolake.agents.call_cache import CachedCall, CallCache, received_of
from evolake.agents.reply_validation import validate_reply
from evolake.agents.roles import Role, roles_in
from evolake.errors import CorruptPart
from evolake.lines import lines

STATES = ("valid", "invalid", "unknown", "damaged")
"""unknown: the reply came, and no installed line has the role that was asked (free text is of none)."""


@dataclass(frozen=True)
class Listed:
    """One entry. `state`: see STATES. `why` says what is wrong with it; `entry` is None where it is
    damaged."""

    key: str
    state: str
    why: str
    entry: CachedCall | None

    def row(self) -> dict[str, Any]:
        """Return what a listing shows: all but the messages and the reply's text."""
        details: dict[str, Any] = {"key": self.key, "state": self.state, "why": self.why}
        if self.entry is None:
            return details
        shown = (
            "line",
            "role",
            "cycle",
            "model",
            "endpoint",
            "attempt",
            "outcome",
            "charged_tokens",
            "usd",
            "created_at",
            "run_id",
        )
        return details | {name: getattr(self.entry, name) for name in shown}


@dataclass(frozen=True)
class Choice:
    """Which entries are meant; None does not choose."""

    line: str | None = None
    role: str | None = None
    cycle: str | None = None
    model: str | None = None
    state: str | None = None

    def takes(self, item: Listed) -> bool:
        """Return whether an entry is meant. A damaged one names no line, role, cycle and model."""
        if self.state is not None and item.state != self.state:
            return False
        wanted = {"line": self.line, "role": self.role, "cycle": self.cycle, "model": self.model}
        result = item.row()
        return all(value is None or result.get(name) == value for name, value in wanted.items())


def listed(call_cache: CallCache, choice: Choice = Choice()) -> Iterator[Listed]:
    """Yield the entries of a call cache that are meant, by key."""
    for key in call_cache.all_keys():
        if choice.takes(item := _listed(call_cache, key)):
            yield item


def _listed(call_cache: CallCache, key: str) -> Listed:
    try:
        entry = call_cache.read(key)
    except CorruptPart as error:
        return Listed(key, "damaged", error.what, None)
    if entry is None:  # dropped meanwhile
        return Listed(key, "unknown", "gone", None)
    role = known_roles().get(entry.role)
    if role is None:
        failed = entry.outcome != "received"
        return Listed(
            key,
            "invalid" if failed else "unknown",
            entry.detail if failed else f"no line has a role {entry.role}",
            entry,
        )
    status, said = validate_reply(received_of(entry), role.reply)
    return (
        Listed(key, "invalid", f"{status}: {said}", entry)
        if isinstance(said, str)
        else Listed(key, "valid", "", entry)
    )


@cache
def known_roles() -> Mapping[str, Role[Any, Any]]:
    """Return name -> role of every line."""
    return {role.name: role for line in lines() for role in roles_of_line(line)}


def roles_of_line(line: str) -> tuple[Role[Any, Any], ...]:
    """Return the roles of a line that keeps them in a package `roles` next to its settings, by name."""
    if (settings := lines()[line].settings) is None:
        return ()
    package = f"{settings.module.rpartition('.')[0]}.roles"
    return roles_in(package) if find_spec(package) else ()


def shown_guidance(line: str | None = None) -> dict[str, list[str]]:
    """Return line -> names of its roles that read what people ask for, without the lines that have none.
    line: only this one; None: every line."""
    chosen = [name for name in lines() if line in (None, name)]
    reading = {
        name: [role.name for role in roles_of_line(name) if "guidance" in role.request.model_fields]
        for name in chosen
    }
    return {name: roles for name, roles in reading.items() if roles}
