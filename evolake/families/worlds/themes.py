"""Themes: names and words in which a structure's constraints and questions are said. Names of a theme begin
with different letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolake.families.worlds.entries import tables_in

PERSONS = {"nobody": "nobody", "somebody": "somebody", "folk": "persons", "member": "person"}


@dataclass(frozen=True)
class Theme:
    """Words for one structure.

    opening: sentences before the clues, with [Input Slot 1] for the names and, where the structure has them,
    further slots. words: see the patterns of the structure's constraints and the questions.
    """

    key: str
    title: str
    category: str
    names: tuple[str, ...]
    opening: str
    words: Mapping[str, str]


_given = tables_in("themes")


def _row(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"on {place}",
        "at_a": f"on a {place}",
        "next": f"on neighbouring {place}s",
        **PERSONS,
        **words,
    }
    spoken = {"first": f"on the first {place}", "last": f"on the last {place}"} | spoken
    spoken["the_next"] = f"{spoken['at'].split()[0]} the next {place}"
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


ROW = tuple(_row(key, **entry) for key, entry in _given["row"].items())
RING = tuple(_row(key, **entry) for key, entry in _given["ring"].items())


def _groups(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"in {place}",
        "in_a": f"in a {place}",
        "same": f"in the same {place}",
        "different": f"in different {place}s",
        **PERSONS,
        **words,
    }
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


GROUPS = tuple(_groups(key, **entry) for key, entry in _given["groups"].items())


def _selection(key, title, category, names, opening, **words) -> Theme:
    return Theme(key, title, category, tuple(names.split()), opening, words)


SELECTION = tuple(_selection(key, **entry) for key, entry in _given["selection"].items())
THEMES = {"row": ROW, "ring": RING, "groups": GROUPS, "selection": SELECTION}
