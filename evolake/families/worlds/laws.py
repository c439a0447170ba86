"""Laws: what a world says of its marked things (those with a hat) in one sentence of its statement; a
mutation point with two of them.

Meanings as in `kinds`, of `some`, the marked things, two at least.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.entries import entries


@dataclass(frozen=True)
class Law:
    """One law. text: with words of the theme."""

    name: str
    structures: tuple[str, ...]
    text: str
    check: str
    clauses: str
    view: str


LAWS = entries("laws", Law, "laws")["laws"]
