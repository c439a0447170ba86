"""The parts of a prompt that are there only if there is something to say, and how principles are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evolake.agents.fences import as_text, clean, fence
from evolake.prompts.roles.models import PrincipleText

STANDING = "How this prompt stands"
TRIED = "What was tried before: do not repeat what failed"
SIBLINGS = "Other requests of this batch"
GUIDANCE = "What people asked for"


def sections(*, guidance: Sequence[str] = (), **named: tuple[str, object]) -> str:
    """Return headed blocks of data, and what people asked for; parts that are empty are left out. named: of a
    block -> (heading, value)."""
    blocks = [
        f"# {heading}\n{fence(as_text(value), name)}" for name, (heading, value) in named.items() if value
    ]
    asked = "\n".join(f"- {clean(item)}" for item in guidance)
    return "\n\n".join([*blocks, *([f"# {GUIDANCE}\n{asked}"] if asked else [])])


def by_id(principles: Iterable[PrincipleText]) -> dict[str, str]:
    """Return id -> text."""
    return {item.id: item.text for item in principles}
