"""Themes of process worlds: two stores, a pointer on marks, a mode, and three signals, in the words of one
place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.families.worlds.entries import tables_in


@dataclass(frozen=True)
class RunTheme:
    """opening: with slots 1 to 3, limit and starts. dial, mode: sentences with {size}, {start} for their
    slots. events: words of the list of signals; when: how each rule begins; close: how the rule that ends
    every turn begins. modes: words of the mode 0 and 1.
    """

    key: str
    title: str
    category: str
    opening: str
    dial: str
    mode: str
    modes: tuple[str, str]
    events: tuple[str, str, str]
    when: tuple[str, str, str]
    close: str
    listing: str
    words: Mapping[str, str]


def _theme(key: str, given: Mapping[str, Any]) -> RunTheme:
    parts: dict[str, Any] = {
        part: tuple(said) if isinstance(said, list) else said for part, said in given.items()
    }
    return RunTheme(key, **parts)


RUN_THEMES = tuple(_theme(key, given) for key, given in tables_in("run_themes").items())
