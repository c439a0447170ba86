"""What was learnt from failures: one-sentence items that hold for any family, in one validated JSON file, shown to whoever writes the next one.

    {"version": 1, "items": ["Keep the answer out of the slot texts."]}

Items are told apart by their words, not by their letters; the list is capped, the oldest go first.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evolake.errors import InputError

SAME = 0.7
"""Share of common words from which on two items say the same."""
LONGEST = 300


class ExperienceFile(BaseModel):
    """The file's form."""

    model_config = ConfigDict(extra="forbid")
    version: int = Field(default=1, ge=1, le=1)
    items: list[str] = Field(default_factory=list)


def load_experience(path: Path) -> list[str]:
    """The items, oldest first; [] where there is no file yet. Raises InputError for a file of another form."""
    try:
        return ExperienceFile.model_validate_json(path.read_bytes()).items
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise InputError(f"{path} is no experience file", wanted='{"version": 1, "items": [...]}', got=str(error.errors()[0]["msg"])) from None


def save_experience(path: Path, items: Sequence[str]) -> None:
    """Write the items, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps({"version": 1, "items": list(items)}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def merged(existing: Sequence[str], candidates: Sequence[str], limit: int) -> list[str]:
    """At most `limit` items that all say something else, oldest first. A repeated item moves to the end: it was learnt again."""
    kept: list[str] = []
    for item in [*existing, *candidates]:
        sentence = one_sentence(item)
        if not sentence:
            continue
        kept = [other for other in kept if not same(other, sentence)]
        kept.append(sentence)
    return kept[-limit:]


def same(one: str, other: str) -> bool:
    """Whether two items say the same."""
    left, right = _words(one), _words(other)
    return left == right or (bool(left | right) and len(left & right) >= SAME * len(left | right))


def one_sentence(text: str) -> str:
    """The first sentence, on one line, capped."""
    flat = " ".join(text.split())
    first = re.split(r"(?<=[.!?。！？])\s", flat, maxsplit=1)[0]
    return first[:LONGEST]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w", text)) if re.search(r"[一-鿿]", text) else set(re.findall(r"\w+", text.casefold()))
