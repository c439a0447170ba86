"""Themes of queues: who is in line, for what, and what gives some of them priority."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolake.families.worlds.entries import tables_in


@dataclass(frozen=True)
class QueueTheme:
    """opening: with slot 1 for the number of desks. words: a `member` and `folk`, a `desk` and `desks`, the
    `unit` of time and `units`, and the `card` that some have.
    """

    key: str
    title: str
    category: str
    opening: str
    words: Mapping[str, str]


def _theme(key: str, title: str, category: str, opening: str, **words: str) -> QueueTheme:
    return QueueTheme(
        key,
        title,
        category,
        opening,
        {"folk": f"{words['member']}s", "desks": f"{words['desk']}s", "units": f"{words['unit']}s", **words},
    )


QUEUE_THEMES = tuple(_theme(key, **entry) for key, entry in tables_in("queue_themes").items())
