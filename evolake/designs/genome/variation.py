"""Designs that may be varied, their children, and how a design without a genome is varied: by its values
alone.

A design that came as a file has no genome; its text is not taken apart. It can be perturbed (new defaults for
its HYPER_SPACE, the source unchanged), and it can be the second parent of nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.genome.values import Scale, perturbed_values, values_text

TRIES = 40
PERTURB_ODDS = 0.25
"""How likely a try at a file gives a child: as likely as an operator would be drawn that a file can be varied
by."""


@dataclass(frozen=True)
class Parent:
    """A design that may be varied. `values` are its hyperparameters as they run; `scales` say how each may
    move."""

    design_id: str
    title: str
    source: str
    values: Mapping[str, float | int | str]
    scales: tuple[Scale, ...]
    genome: OpenGenome | None = None


@dataclass(frozen=True)
class Child:
    """A new design. `hyper` holds the values that differ from the defaults in `source`; `weights` are (parent
    id, share), summing to 1."""

    source: str
    hyper: Mapping[str, float | int | str]
    genome: OpenGenome | None
    operator: str
    weights: tuple[tuple[str, float], ...]
    title: str
    rationale: str

    def key(self) -> str:
        """Return what makes two children the same before they are traced."""
        return design_key(self.genome, self.source, self.hyper)


def design_key(genome: OpenGenome | None, source: str, hyper: Mapping[str, float | int | str]) -> str:
    """Of a design with a genome: the genome's key, which is that of its behaviour. Of any other: the hash of
    its text and changed values."""
    if genome is not None:
        return genome.key()
    return hashlib.sha256(
        (source + "\x1f" + values_text(hyper)).encode(errors="backslashreplace")
    ).hexdigest()


def propose_perturbed(
    parent: Parent, taken: Collection[str], random: np.random.Generator, *, operator: str | None = None
) -> Child | None:
    """Return a file with other values; None when `TRIES` tries gave only what is in `taken`. operator:
    "perturb" spends no try on another one."""
    for attempt in range(TRIES):
        asked = operator == "perturb" and attempt < TRIES // 2
        perturbs = asked or random.random() >= 1 - PERTURB_ODDS
        child = _perturbed_file(parent, random) if perturbs else None
        if child is not None and child.key() not in taken:
            return child
    return None


def _perturbed_file(parent: Parent, random: np.random.Generator) -> Child | None:
    moved = perturbed_values(parent.values, parent.scales, random)
    changed = [name for name, value in moved.items() if value != parent.values[name]]
    if not changed:
        return None
    title = short_title("perturb " + ", ".join(changed), parent.design_id)
    rationale = f"Other defaults for {', '.join(changed)} of {parent.title}; the file itself is unchanged."
    return Child(parent.source, dict(moved), None, "perturb", ((parent.design_id, 1.0),), title, rationale)


def short_title(change: str, parent_id: str) -> str:
    """Return what was changed and on which design, in at most 40 characters."""
    place = f" on {parent_id[:6]}" if parent_id else ""
    room = 40 - len(place)
    return (change if len(change) <= room else change[: room - 3] + "...") + place
