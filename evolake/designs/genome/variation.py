"""Designs that may be varied, and their children.

A design that came as a file has no genome; its text is not taken apart. It can be perturbed (new defaults for
its HYPER_SPACE, the source unchanged), and it can be the second parent of nothing. A hyperparameter of any
HYPER_SPACE (uniform, log_uniform, int, categorical) moves by a Gaussian on its own scale, within its bounds,
rounded to six significant digits: what a person reads in a file is what runs.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.model.boundary import shown

STEP = 0.08
LARGEST_LOG = 700.0
LONG_STEP = 0.3
LONG_STEP_ODDS = 0.2
CROSSED = 0.8


@dataclass(frozen=True)
class Scale:
    """Bounds and type of one hyperparameter. `choices` only for a categorical one."""

    name: str
    type: str
    low: float | None = None
    high: float | None = None
    choices: tuple[float | int | str, ...] = ()


def perturbed_values(
    values: Mapping[str, float | int | str], scales: Sequence[Scale], random: np.random.Generator
) -> dict[str, float | int | str]:
    """Return all of `values`, one to a third of them moved. The step is `STEP` of the range, at times
    `LONG_STEP`."""
    movable = [
        scale
        for scale in scales
        if scale.name in values and (len(scale.choices) > 1 or scale.low != scale.high)
    ]
    moved = dict(values)
    if not movable:
        return moved
    count = 1 + int(random.integers(max(1, math.ceil(len(movable) / 3))))
    step = LONG_STEP if random.random() < LONG_STEP_ODDS else STEP
    for index in random.choice(len(movable), size=min(count, len(movable)), replace=False):
        scale = movable[int(index)]
        moved[scale.name] = moved_value(scale, values[scale.name], step, random)
    return moved


def moved_value(
    scale: Scale, value: float | int | str, step: float, random: np.random.Generator
) -> float | int | str:
    """Return one value after a Gaussian step of `step` times the range, clipped to the bounds."""
    if scale.type == "categorical":
        others = [choice for choice in scale.choices if choice != value]
        return others[int(random.integers(len(others)))] if others else value
    assert scale.low is not None and scale.high is not None
    push = float(random.normal())
    if scale.type == "int":
        span = max(1.0, step * (scale.high - scale.low))
        jump = round(push * span) or (1 if push > 0 else -1)
        return int(min(max(float(value) + jump, scale.low), scale.high))
    if scale.type == "log_uniform":
        drawn = math.exp(
            min(math.log(float(value)) + push * step * math.log(scale.high / scale.low), LARGEST_LOG)
        )
    else:
        drawn = float(value) + push * step * (scale.high - scale.low)
    return min(max(rounded(drawn), scale.low), scale.high)


def differed_values(
    values: Mapping[str, float | int | str],
    first: Mapping[str, float | int | str],
    other: Mapping[str, float | int | str],
    scales: Sequence[Scale],
    factor: float,
    random: np.random.Generator,
) -> dict[str, float | int | str]:
    """Return `values` moved by `factor` times the way from `other` to `first`, each on its own scale and
    within its bounds, as differential evolution does.

    Only parameters with a range that all three have are moved, each with probability `CROSSED`. (Storn and
    Price, J. Global Optim. 11, 1997.)
    """
    moved = dict(values)
    for scale in scales:
        name = scale.name
        if (
            scale.type not in ("uniform", "log_uniform")
            or not (name in values and name in first and name in other)
            or random.random() > CROSSED
        ):
            continue
        assert scale.low is not None and scale.high is not None
        here, to, start = (
            float(min(max(float(result[name]), scale.low), scale.high)) for result in (values, first, other)
        )
        drawn = here * (to / start) ** factor if scale.type == "log_uniform" else here + factor * (to - start)
        moved[name] = min(max(rounded(drawn), scale.low), scale.high)
    return moved


def rounded(value: float, digits: int = 6) -> float:
    """Return `value` to so many significant digits."""
    return float(f"{value:.{digits}g}")


def values_text(values: Mapping[str, Any]) -> str:
    """Return hyperparameter values as canonical JSON; ones that JSON cannot say (an integer of thousands of
    digits) as a JSON text of what they are."""
    try:
        return json.dumps(dict(values), sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return json.dumps({shown(name): shown(value) for name, value in values.items()}, sort_keys=True)


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
