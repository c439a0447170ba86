"""`evolake guide`: a person's word to the planners, kept with its lineage; `evolake agents tape`: what models
have replied, and taking replies off the call cache, so that they are asked for again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evolake import settings as settings_module
from evolake.agents.call_cache import CachedCall, CallCache, received_of
from evolake.agents.reply_validation import validate_reply
from evolake.agents.roles import Role, roles_in
from evolake.commands import AS_JSON
from evolake.errors import CorruptPart, InputError
from evolake.lines import lines
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.agents.guidance import Guidance


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


IGNORED = (
    "the backend `operators` takes from a note only words that name what a planner chooses among (a term, "
    "an operator, a knob, a kind of objective), and ignores the rest; a model reads all of it"
)


@click.command(short_help="Give the planners guidance, from the next cycle on.")
@click.argument("text", required=False)
@click.option("--line", help="Only the planners of this line see it (default: all lines).")
@click.option("--list", "list_all", is_flag=True, help="Show every note, and from which cycle on it is seen.")
@click.option("--withdraw", metavar="ID", help="Take this note back from the next cycle on (default: none).")
@AS_JSON
def guide(text: str | None, line: str | None, list_all: bool, withdraw: str | None, as_json: bool) -> int:
    """Give the planners guidance: they see TEXT from the next cycle on."""
    if sum([text is not None, list_all, withdraw is not None]) != 1:
        raise InputError(
            "guide does one thing at a time",
            wanted="a TEXT, or --list, or --withdraw ID",
            do='evolake guide "try larger N"',
        )
    if line is not None and text is None:
        raise InputError("--line goes with a TEXT", do="leave it out")
    from evolake.agents.guidance import all_guidance, store_guidance, withdraw_guidance

    settings = settings_module.load()
    root = settings.require_lake()
    if list_all:
        notes, verdict = all_guidance(root), "listed"
    elif withdraw is not None:
        notes, verdict = [withdraw_guidance(root, withdraw)], "withdrawn"
    else:
        notes, verdict = [store_guidance(root, text or "", line)], "stored"
    if as_json:
        say_json(
            {"verdict": verdict, "reasons": [], "guidance": [_as_json(note) for note in notes]},
            ensure_ascii=False,
        )
        return 0
    for note in notes:
        say(f"{note.id}  {note.line or 'all lines'}, {_when(note)}: {note.text}")
    if verdict == "stored":
        say(_reaches(line))
    if verdict == "stored" and settings.backend == "operators":
        say(IGNORED)
    if not notes:
        say('No guidance yet. Give some with: evolake guide "..."')
    return 0


def _reaches(line: str | None) -> str:
    """Return which roles read a note, in a sentence."""
    text = "; ".join(f"{name}: {', '.join(roles)}" for name, roles in shown_guidance(line).items())
    return f"read by {text}" if text else "read by no role of this line"


def _when(note: Guidance) -> str:
    shown = {line: cycle for line, cycle in note.since.items() if line != "*"} or note.since
    since = ", ".join(
        cycle if note.line or line == "*" else f"{line} {cycle}" for line, cycle in sorted(shown.items())
    )
    ends = {line: cycle for line, cycle in note.withdrawn.items() if line != "*"} or note.withdrawn
    until = ", ".join(
        cycle if note.line or line == "*" else f"{line} {cycle}" for line, cycle in sorted(ends.items())
    )
    return f"from cycle {since} on" + (f", withdrawn from cycle {until} on" if until else "")


def _as_json(note: Guidance) -> dict[str, Any]:
    return {
        "id": note.id,
        "text": note.text,
        "line": note.line,
        "created_at": note.created_at.isoformat(),
        "since": note.since,
        "withdrawn": note.withdrawn,
    }


Command = TypeVar("Command", bound=Callable[..., Any])
SHORT = 12


def _choosing(command: Command) -> Command:
    for option in reversed(
        (
            click.option("--line", help="Of this line (default: all)."),
            click.option("--role", help="Of this role, e.g. families_evolution_agent (default: all)."),
            click.option("--cycle", help="Paid for in this cycle, e.g. 0003 (default: all)."),
            click.option("--model", help="Asked of this model (default: all)."),
            click.option(
                "--valid", "state", flag_value="valid", help="Only those whose reply fits its role."
            ),
            click.option(
                "--invalid", "state", flag_value="invalid", help="Only those that gave no usable reply."
            ),
            click.option("--damaged", "state", flag_value="damaged", help="Only those that cannot be read."),
        )
    ):
        command = option(command)
    return command


@click.group(short_help="Show and prune the cache of model replies.")
def agents() -> None:
    """Inspect what agents have replied.

    \b
    Example:
      evolake agents tape list --invalid
    """


@agents.group(short_help="List or drop cached model replies.")
def tape() -> None:
    """List or drop entries of the call cache: every reply that was paid for. A valid one is reused for the
    same request at no cost.

    \b
    Example:
      evolake agents tape list --line designs --cycle 0003
    """


@tape.command(name="list", short_help="List cached replies and why some are invalid.")
@_choosing
@AS_JSON
def list_(as_json: bool, **choice: Any) -> int:
    """Show the entries of the call cache, and why a reply cannot be used."""
    entries = _found(choice)
    if as_json:
        rows = [entry.row() for entry in entries]
        say_json(
            {"verdict": "listed", "reasons": [], "count": len(rows), "entries": rows}, ensure_ascii=False
        )
        return 0
    for item in entries:
        say(_entry_text(item))
    say(_counted(entries))
    return 0


@tape.command(short_help="Remove replies, so that the next run asks again.")
@_choosing
@click.option("--all", "everything", is_flag=True, help="Remove all entries if no other option selects some.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output; needs --yes.")
def drop(everything: bool, yes: bool, as_json: bool, **choice: Any) -> int:
    """Remove entries from the call cache permanently; their cost stays in the accounts. The next run asks and
    pays for them again."""
    from evolake.agents.call_cache import CallCache

    if everything == any(choice.values()):
        raise InputError(
            "drop needs to know which entries",
            wanted="options that choose, or --all alone",
            do="`evolake agents tape list` shows them",
        )
    if as_json and not yes:
        raise InputError(
            "--json does not ask", wanted="--yes with it", do="look first: `evolake agents tape list`"
        )
    result = _found(choice)
    if not yes and result:
        say(_counted(result))
        if not click.confirm("Drop them? --replay-only of what used them will no longer work."):
            say("nothing dropped")
            return 0
    dropped = CallCache(settings_module.load().require_lake() / "tape").drop(item.key for item in result)
    if as_json:
        say_json(
            {"verdict": "dropped", "reasons": [], "count": dropped, "keys": [item.key for item in result]}
        )
    else:
        say(f"{dropped} dropped")
    return 0


def _found(choice: dict[str, Any]) -> list[Listed]:
    from evolake.agents.call_cache import CallCache
    from evolake.lake import Lake

    return list(
        listed(CallCache(Lake(settings_module.load().require_lake()).root / "tape"), Choice(**choice))
    )


def _entry_text(item: Listed) -> str:
    row = item.row()
    asked = "unreadable"
    if item.entry is not None:
        asked = (
            f"{row['line']} {row['cycle']} {row['role']} ({row['model']} at "
            f"{row['endpoint'] or 'an endpoint unknown'})"
        )
    return f"{item.key[:SHORT]}  {item.state:<8}{asked}" + (
        f": {' '.join(item.why.split())[:120]}" if item.why else ""
    )


def _counted(result: Sequence[Listed]) -> str:

    counts = [
        f"{count} {state}" for state in STATES if (count := sum(item.state == state for item in result))
    ]
    return f"{len(result)} entries" + (f": {', '.join(counts)}" if counts else "")
