"""Themes of boards: who moves where, what is in the way, what can be pushed, and what is on the marked
cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


COMPASS = {
    "n": "north",
    "e": "east",
    "s": "south",
    "w": "west",
    "down": "from north to south",
    "along": "from west to east",
}
SCREEN = {
    "n": "up",
    "e": "right",
    "s": "down",
    "w": "left",
    "down": "from top to bottom",
    "along": "from left to right",
}


def _theme(
    key: str, title: str, category: str, opening: str, ways: Mapping[str, str], **words: str
) -> BoardTheme:
    named = {
        f"a_{item}": f"an {words[item]}" if words[item][0] in "aeiou" else f"a {words[item]}"
        for item in ("thing", "wall", "mark")
    }
    return BoardTheme(
        key,
        title,
        category,
        opening,
        {"things": f"{words['thing']}s", "marks": f"{words['mark']}s", **ways, **named, **words},
    )


BOARD_THEMES = (
    _theme(
        "warehouse",
        "A robot in a warehouse",
        "spatial",
        "A robot drives about in a warehouse, whose floor is a board of square cells.",
        COMPASS,
        mover="robot",
        thing="crate",
        wall="rack",
        mark="grating",
        plain="floor",
    ),
    _theme(
        "garden",
        "A hedgehog in a garden",
        "commonsense",
        "A hedgehog wanders about in a garden, which is a board of square cells.",
        COMPASS,
        mover="hedgehog",
        thing="flowerpot",
        wall="hedge",
        mark="puddle",
        plain="lawn",
    ),
    _theme(
        "harbour",
        "A tug in a harbour",
        "spatial",
        "A tug works in a harbour; on the map, the harbour is a board of square cells.",
        COMPASS,
        mover="tug",
        thing="raft",
        wall="quay",
        mark="whirlpool",
        plain="water",
    ),
    _theme(
        "screen",
        "A token on a screen",
        "symbolic",
        "A token is moved over a screen, which shows a board of square cells.",
        SCREEN,
        mover="token",
        thing="block",
        wall="barrier",
        mark="star",
        plain="blank",
    ),
    _theme(
        "cellar",
        "A ghost in a cellar",
        "causal",
        "A ghost haunts a cellar, whose plan is a board of square cells.",
        COMPASS,
        mover="ghost",
        thing="barrel",
        wall="pillar",
        mark="trapdoor",
        plain="stone",
    ),
    _theme(
        "forest",
        "A fox on a snowy field",
        "other",
        "A fox runs about on a snowy field, which is a board of square cells.",
        SCREEN,
        mover="fox",
        thing="snowball",
        wall="tree",
        mark="pond",
        plain="snow",
    ),
)
