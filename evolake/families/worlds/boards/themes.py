"""Themes of boards: who moves where, what is in the way, what can be pushed, and what is on the marked
cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolake.families.worlds.entries import tables_in


@dataclass(frozen=True)
class BoardTheme:
    """opening: what the board is, up to the point. words: the `mover`, a `thing` and `things`, a `wall`, a
    `mark` and `marks`, `plain` ground, with `a_thing`, `a_wall`, `a_mark`; the directions `n`, `e`, `s`, `w`,
    and `down` and `along`, how rows and columns are numbered.
    """

    key: str
    title: str
    category: str
    opening: str
    words: Mapping[str, str]


WAYS = {
    "compass": {
        "n": "north",
        "e": "east",
        "s": "south",
        "w": "west",
        "down": "from north to south",
        "along": "from west to east",
    },
    "screen": {
        "n": "up",
        "e": "right",
        "s": "down",
        "w": "left",
        "down": "from top to bottom",
        "along": "from left to right",
    },
}


def _theme(key: str, title: str, category: str, opening: str, ways: str, **words: str) -> BoardTheme:
    named = {
        f"a_{item}": f"an {words[item]}" if words[item][0] in "aeiou" else f"a {words[item]}"
        for item in ("thing", "wall", "mark")
    }
    return BoardTheme(
        key,
        title,
        category,
        opening,
        {"things": f"{words['thing']}s", "marks": f"{words['mark']}s", **WAYS[ways], **named, **words},
    )


BOARD_THEMES = tuple(_theme(key, **entry) for key, entry in tables_in("board_themes").items())
