"""`evolake guide`: a person's word to the planners, kept with its lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.agents.guidance import Guidance


IGNORED = (
    "the backend `operators` takes from a note only words that name what a planner chooses among (a term, "
    "an operator, a knob, a kind of objective), and ignores the rest; a model reads all of it"
)


@click.command(short_help="Give the planners guidance, from the next cycle on.")
@click.argument("text", required=False)
@click.option("--line", help="Only the planners of this line see it (default: all lines).")
@click.option("--list", "list_all", is_flag=True, help="Show every note, and from which cycle on it is seen.")
@click.option("--withdraw", metavar="ID", help="Take this note back from the next cycle on (default: none).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
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
    from evolake.agents.listing import shown_guidance

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
