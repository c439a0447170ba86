"""A system prompt as an individual: an ordered list of principles with ids (E-SPL, section 3.1 and figure 9).

Edits name principles by id, so an id means the same principle through a whole lineage: a modified principle
keeps its id, a new one takes the next number, and the number of a principle that was dropped is not given out
again. `next_number` carries that from parent to child; it is no content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from evolake.canonical_json import canonical_json, key_of
from evolake.errors import InputError

HEADING = "Before you answer, read these principles. Apply those that fit the task:"
_ID = re.compile(r"p[1-9][0-9]*")


@dataclass(frozen=True)
class Principle:
    """One instruction. id: `p` and a number, unique in its prompt."""

    id: str
    text: str

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise InputError(
                f"{self.id!r} is no id of a principle", wanted="`p` and a number from 1, like p7"
            )
        if not self.text.strip():
            raise InputError(f"principle {self.id} is empty", wanted="a text")

    @property
    def number(self) -> int:
        """The number of the id."""
        return int(self.id[1:])


@dataclass(frozen=True)
class SystemPrompt:
    """Principles in the order that the policy reads them. Without any it is the empty prompt, a legal root.

    next_number: of the next new principle; at least one above every number in use. 0 means exactly that.
    """

    principles: tuple[Principle, ...] = ()
    next_number: int = 0

    def __post_init__(self) -> None:
        numbers = [principle.number for principle in self.principles]
        if len(set(numbers)) < len(numbers):
            raise InputError("two principles of one system prompt bear the same id", got=", ".join(self.ids))
        lowest = max(numbers, default=0) + 1
        if not self.next_number:
            object.__setattr__(self, "next_number", lowest)
        elif self.next_number < lowest:
            raise InputError(
                "the next number of a system prompt is in use",
                wanted=f"{lowest} or more",
                got=str(self.next_number),
            )

    @cached_property
    def prompt_id(self) -> str:
        """sha256 of the principles, ids and texts in order, as canonical JSON."""
        return key_of([[principle.id, principle.text] for principle in self.principles])

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids in order."""
        return tuple(principle.id for principle in self.principles)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts in order, without ids: prompts that agree in this say the same."""
        return tuple(principle.text for principle in self.principles)

    def text(self) -> str:
        """Return what the policy reads as its system message; empty for the empty prompt."""
        if not self.principles:
            return ""
        return "\n".join([HEADING, *(f"[{principle.id}] {principle.text}" for principle in self.principles)])

    def to_json(self) -> str:
        """Return everything, as canonical JSON; `from_json` reads it back."""
        return canonical_json(
            {
                "next_number": self.next_number,
                "principles": [{"id": item.id, "text": item.text} for item in self.principles],
            }
        )


def from_json(text: str) -> SystemPrompt:
    """Return the prompt that `to_json` wrote.

    Raises:
        InputError: the text is something else.
    """
    try:
        value = json.loads(text)
        return SystemPrompt(
            tuple(Principle(str(item["id"]), str(item["text"])) for item in value["principles"]),
            int(value["next_number"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            "this is no system prompt",
            wanted='JSON like {"next_number": 2, "principles": [{"id": "p1", "text": "..."}]}',
            got=f"{type(error).__name__}: {error}",
        ) from None


def prompt_of(texts: Iterable[str]) -> SystemPrompt:
    """Return a root prompt of these principles, numbered from 1; white space is collapsed."""
    return SystemPrompt(tuple(Principle(f"p{number}", tidy(text)) for number, text in enumerate(texts, 1)))


def tidy(text: str) -> str:
    """Return the text on one line: every run of white space is one space."""
    return " ".join(text.split())
