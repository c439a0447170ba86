"""Champions of the prompts line as system prompts of roles.

The setting `system_prompts` names, per role, a prompt by its id or `champion`. Its text is at the head of the
role's system message; the role's own instructions and the form of its reply follow, so a prompt can advise
and not undo. A champion is that of the newest population of the prompts line that was sealed for the asking
cycle's number or an earlier one. An id means the same text for ever. The rows of the calls say which prompt
was read. Operators read no prompts: their rows name none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from evolake.agents.fences import cap, clean
from evolake.agents.prompts import MAX_TEXT_CHARS, Message
from evolake.errors import CorruptPart, InputError
from evolake.lake import Lake, Seal
from evolake.reading import whole_number

LINE, TABLE = "prompts", "incoming_prompts"
CHAMPION = "champion"
DEFAULT = "default"
SHORTEST_ID = 8


@dataclass(frozen=True)
class SystemPromptText:
    """A system prompt as a model reads it."""

    prompt_id: str
    text: str


def resolve(lake: Lake, named: Mapping[str, str], cycle: str) -> dict[str, SystemPromptText]:
    """Return role -> its system prompt.

    Args:
        named: role (or `default`) -> `champion`, a prompt id, or the first eight or more digits of one.
            cycle: of the line that asks.

    Raises:
        InputError: no such prompt, no champion yet, or `champion` for a partition that is no cycle.
        CorruptPart: a population is not what was sealed.
    """
    held: dict[str, SystemPromptText] = {}
    for name in named.values():
        if name not in held:
            held[name] = _champion(lake, cycle) if name == CHAMPION else _by_id(lake, name)
    return {role: held[name] for role, name in named.items()}


def prompt_for(prompts: Mapping[str, SystemPromptText], role: str) -> SystemPromptText | None:
    """Return the system prompt of a role, if it has one."""
    return prompts.get(role) or prompts.get(DEFAULT)


def headed(messages: list[Message], prompt: SystemPromptText | None) -> list[Message]:
    """Return the messages with the prompt's text at the head of the system message. An empty text changes
    nothing."""
    if prompt is None or not prompt.text.strip():
        return messages
    system, *rest = messages
    return [{**system, "content": f"{cap(clean(prompt.text), MAX_TEXT_CHARS)}\n\n{system['content']}"}, *rest]


def _champion(lake: Lake, cycle: str) -> SystemPromptText:
    if whole_number(cycle) is None:
        raise InputError(
            f"`champion` cannot serve {cycle!r}",
            wanted="a cycle: a study has none whose champion would stay the same",
            do="name a prompt by its id",
        )
    for seal in _sealed(lake):
        if int(seal.cycle) <= int(cycle):
            result = _table(lake, seal).filter(pl.col("state") == CHAMPION).select("prompt_id", "text").rows()
            if result:
                return SystemPromptText(*result[0])
    raise InputError(
        f"the prompts line has no champion for cycle {cycle}",
        wanted=f"a population of it that was sealed for cycle {cycle} or before",
        do="run `evolake run --lines prompts` first, or name a prompt by its id",
    )


def _by_id(lake: Lake, name: str) -> SystemPromptText:
    known = {}
    for seal in _sealed(lake) if len(name) >= SHORTEST_ID else ():
        known |= dict(
            _table(lake, seal)
            .filter(pl.col("prompt_id").str.starts_with(name))
            .select("prompt_id", "text")
            .rows()
        )
    if len(known) != 1:
        raise InputError(
            f"no system prompt {name!r}" if not known else f"{len(known)} system prompts begin with {name!r}",
            wanted=(
                f"`champion`, or the id of one prompt of this lake (its first {SHORTEST_ID} digits suffice)"
            ),
            do='`evolake sql "SELECT prompt_id, state, text FROM prompts.incoming_prompts"` lists them',
        )
    ((prompt_id, text),) = known.items()
    return SystemPromptText(prompt_id, text)


def _sealed(lake: Lake) -> Iterator[Seal]:
    """Yield the seals of the prompts line that hold, newest first."""
    for cycle in reversed(lake.seals.cycles(LINE)):
        seal = lake.seals.read(LINE, cycle)
        if seal is not None and lake.seals.broken_link(LINE, cycle) is None:
            yield seal


def _table(lake: Lake, seal: Seal) -> pl.DataFrame:
    record = lake.record(LINE, TABLE, seal.cycle)
    if record is None or record.content_sha != seal.tables.get(TABLE):
        raise CorruptPart(
            f"{LINE}/{TABLE} of cycle {seal.cycle} is not what was sealed",
            wanted=f"content {seal.tables.get(TABLE)}",
            got=record.content_sha if record else "nothing",
            do=f"materialize the group {LINE} again from the cycle before {seal.cycle} on",
        )
    return lake.read(LINE, TABLE, seal.cycle)
