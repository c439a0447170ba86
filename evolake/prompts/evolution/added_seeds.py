"""The root prompts as what may immigrate: those of `roots.json`, and files of the same form in the folder
`roots` next to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake.added_seeds import SeedItem, SeedSource, text_item
from evolake.prompts.model.library import load_roots, read_roots, root_files, roots_in


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """In the order of `load_roots`; each known by its principles, not by its name. A folder of added seeds
    alone needs no `roots.json`."""
    folder = seeds / "prompts"
    first, *further = root_files(folder)
    needed = first.exists() or settings is None or seeds == settings.seeds
    if needed:
        result = load_roots(folder)
    else:
        result = roots_in(further) if further else {}
    files = {name: file for file in ([first] if needed else []) + further for name in read_roots(file)}
    return [text_item(name, prompt.to_json().encode(), files[name]) for name, prompt in result.items()]


def check(path: Path) -> str:
    """Raise InputError where the file holds no root prompts."""
    if not accepts(path):
        raise InputError(
            f"{path} holds no root prompts",
            wanted='a JSON file like {"careful": ["Check each step.", "End with the answer."]}',
        )
    return ", ".join(read_roots(path))


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return path.is_file() and path.suffix == ".json"


SEEDS = SeedSource("prompts/roots", items, accepts, check)
