"""The portfolio of objectives that needs no model: structurally different families, random parameters.

Each family looks at another side of a design's results, so that the portfolio truly disagrees: an objective
that is gamed is outvoted by those that look elsewhere. The families follow the phases the paper's objectives
went through (Zhang, Sipling and Di Ventra 2026, section S2.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evolake.objectives.family import Family, families_in
from evolake.objectives.source import FAMILY_FOLDER, HELPERS, assemble, objective_id

TRIES = 50
WANTED_FACTOR = 4.0


@dataclass(frozen=True)
class ObjectiveSpec:
    """One objective: `source` defines objective(experiment_results: list[dict]) -> float, lower is better;
    `objective_id` is its content's hash."""

    objective_id: str
    family: str
    parameters: Mapping[str, float | int] = field(hash=False)
    description: str
    source: str = field(repr=False)

    def row(self, cycle: str, origin: str) -> dict[str, Any]:
        """Return the columns that a line's table of objectives has of a new one, which votes. The round of
        creation is the cycle's number."""
        return {
            "objective_id": self.objective_id,
            "state": "accepted",
            "cycle": cycle,
            "created_round": int(cycle),
            "family": self.family,
            "parameters": json.dumps(dict(self.parameters), sort_keys=True),
            "description": self.description,
            "source": self.source,
            "multiplier": 1.0,
            "origin": origin,
            "reason": None,
        }


class HasFamily(Protocol):
    """What `draw` wants to know of an objective that exists already."""

    @property
    def objective_id(self) -> str:
        """Return the objective's id."""
        ...

    @property
    def family(self) -> str:
        """Return the name of the objective's family."""
        ...


@dataclass(frozen=True)
class Known:
    """An objective of which no more is known than `draw` wants."""

    objective_id: str
    family: str


BASELINE_FAMILY = "baseline"
OBJECTIVE_FAMILIES = families_in(FAMILY_FOLDER)


def baseline_objective() -> ObjectiveSpec:
    """Return objective 0, the simple one that every line of objectives starts from."""
    return make(
        BASELINE_FAMILY,
        {},
        "log10 steps at N=2000, R2-weighted blend of a power law and an exponential through all levels",
    )


def make(
    family: str,
    parameters: Mapping[str, float | int],
    description: str,
    *,
    folder: str = FAMILY_FOLDER,
    helpers: str = HELPERS,
) -> ObjectiveSpec:
    """Return the objective of a family with these constants (others keep the family file's value); `folder`,
    `helpers`: see `source.assemble`.

    Raises ValueError for a constant that the family does not have.
    """
    source = assemble(family, parameters, folder=folder, helpers=helpers)
    return ObjectiveSpec(objective_id(source), family, dict(parameters), description, source)


def new_objective(
    rng: np.random.Generator,
    existing: Iterable[HasFamily],
    wanted: Sequence[str] = (),
    *,
    families: Mapping[str, Family] = OBJECTIVE_FAMILIES,
    folder: str = FAMILY_FOLDER,
    helpers: str = HELPERS,
) -> ObjectiveSpec:
    """Return a new objective: a family, the likelier the fewer of it exist, with random parameters.

    Args:
        existing: the objectives so far; none of them is drawn again.
        wanted: families that the meta review asked for; four times as likely. Unknown names are ignored:
            guidance may come from a model.
        families, folder, helpers: whom to draw from and where their files are; the default is the designs'
            own.
    """
    known = list(existing)
    names = list(families)
    counts = np.array([sum(objective.family == name for objective in known) for name in names])
    share = np.where([name in wanted for name in names], WANTED_FACTOR, 1.0) / (1.0 + counts) ** 2
    taken = {objective.objective_id for objective in known}
    for _ in range(TRIES):
        family = families[names[int(rng.choice(len(names), p=share / share.sum()))]]
        parameters = _draw_parameters(rng, family)
        spec = make(
            family.name, parameters, family.description.format(**parameters), folder=folder, helpers=helpers
        )
        if spec.objective_id not in taken:
            return spec
    raise RuntimeError(f"no new objective in {TRIES} draws: the random generator repeats itself")


def _draw_parameters(rng: np.random.Generator, family: Family) -> dict[str, Any]:
    chosen: dict[str, Any] = {name: int(rng.choice(values)) for name, values in family.choices.items()}
    return chosen | {
        name: round(float(rng.uniform(low, high)), 3) for name, (low, high) in family.ranges.items()
    }
