"""The portfolio of objectives that needs no model: structurally different families, random parameters.

Each family looks at another side of a design's results, so that the portfolio truly disagrees: an objective that is gamed is outvoted by those that
look elsewhere. The families follow the phases the paper's objectives went through (Zhang, Sipling and Di Ventra 2026, section S2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evolake.objectives.source import FAMILY_FOLDER, HELPERS, assemble, objective_id

TRIES = 50
WANTED_FACTOR = 4.0


@dataclass(frozen=True)
class ObjectiveSpec:
    """One objective: `source` defines objective(experiment_results: list[dict]) -> float, lower is better; `objective_id` is its content's hash."""

    objective_id: str
    family: str
    parameters: Mapping[str, float | int] = field(hash=False)
    description: str
    source: str = field(repr=False)


class HasFamily(Protocol):
    """What `draw` wants to know of an objective that exists already."""

    @property
    def objective_id(self) -> str: ...

    @property
    def family(self) -> str: ...


@dataclass(frozen=True)
class Family:
    """A way of judging. choices: constant -> tuple of int to choose from; ranges: constant -> (low, high) of a uniform draw."""

    name: str
    aspect: str
    description: str
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict, hash=False)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)


BASELINE_FAMILY = "baseline"
OBJECTIVE_FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "extrapolation", "what a very large instance would cost",
            "log steps at N={TARGET_N}, AIC-averaged over three laws of growth, levels weighted by N^{EMPHASIS}",
            {"TARGET_N": (800, 1280, 2000, 2560, 4000)}, {"EMPHASIS": (0.0, 2.0), "NOISE": (0.1, 0.4)},
        ),
        Family(
            "restart", "what all sizes together cost, failures included",
            "mean log restart cost over all sizes up to N={TOP_N}, sizes weighted by N^{EMPHASIS}",
            {"TOP_N": (640, 1280, 2560), "TAIL": (3, 4, 5)}, {"EMPHASIS": (0.2, 1.5), "FAILURE_EXPONENT": (2.5, 5.0)},
        ),
        Family(
            "reach", "how large an instance is solved at all",
            "largest size solved; then tail exponent over {TAIL} levels and effort, at most {TIE} of a doubling",
            {"TAIL": (3, 4, 5)}, {"TIE": (0.1, 0.45), "SLOPE_SHARE": (0.0, 0.7)},
        ),
        Family(
            "headroom", "how much of the schedule's budget is left over",
            "mean log share of the schedule's budget over the last {LAST} levels, {PULL} off a doubling of the reach",
            {"LAST": (1, 2, 3, 4)}, {"PULL": (0.1, 0.6)},
        ),
        Family(
            "tail", "the worst local growth among the larger sizes",
            "largest steps at N={TARGET_N} foretold by any {WIDTH} neighbouring levels of the last {SHARE} of them",
            {"TARGET_N": (905, 1810, 2560), "WIDTH": (2, 3, 4)}, {"SHARE": (0.4, 0.8)},
        ),
        Family(
            "cliff", "sudden rises of cost near the frontier",
            "growth beyond N^{FAIR_EXPONENT} between neighbouring levels, fading by {FADE} a level from the frontier",
            {}, {"FAIR_EXPONENT": (1.0, 2.0), "WIDTH": (0.3, 1.0), "FADE": (0.4, 0.8), "LEVEL_SHARE": (0.15, 0.5)},
        ),
        Family(
            "bottleneck", "the tightest place of the schedule, seen or foretold",
            "smooth maximum of log budget share at the last {LAST} levels and foretold at N={NEAR_N} and {FAR_N}",
            {"LAST": (2, 3, 4), "WIDTH": (2, 3, 4), "NEAR_N": (640, 905, 1810), "FAR_N": (2560,)}, {"SHARPNESS": (0.5, 5.0)},
        ),
    )
}


def baseline_objective() -> ObjectiveSpec:
    """Objective 0, the simple one that every line of objectives starts from."""
    return make(BASELINE_FAMILY, {}, "log10 steps at N=2000, R2-weighted blend of a power law and an exponential through all levels")


def make(
    family: str, parameters: Mapping[str, float | int], description: str, *, folder: str = FAMILY_FOLDER, helpers: str = HELPERS
) -> ObjectiveSpec:
    """The objective of a family with these constants (others keep the family file's value); `folder`, `helpers`: see `source.assemble`.

    Raises ValueError for a constant that the family does not have.
    """
    source = assemble(family, parameters, folder=folder, helpers=helpers)
    return ObjectiveSpec(objective_id(source), family, dict(parameters), description, source)


def draw(
    rng: np.random.Generator, existing: Iterable[HasFamily], wanted: Sequence[str] = (), *, families: Mapping[str, Family] = OBJECTIVE_FAMILIES,
    folder: str = FAMILY_FOLDER, helpers: str = HELPERS,
) -> ObjectiveSpec:
    """A new objective: a family, the likelier the fewer of it exist, with random parameters.

    Args:
        existing: the objectives so far; none of them is drawn again.
        wanted: families that the meta review asked for; four times as likely. Unknown names are ignored: guidance may come from a model.
        families, folder, helpers: whom to draw from and where their files lie; the default is the designs' own.
    """
    known = list(existing)
    names = list(families)
    counts = np.array([sum(objective.family == name for objective in known) for name in names])
    share = np.where([name in wanted for name in names], WANTED_FACTOR, 1.0) / (1.0 + counts) ** 2
    taken = {objective.objective_id for objective in known}
    for _ in range(TRIES):
        family = families[names[int(rng.choice(len(names), p=share / share.sum()))]]
        parameters = _draw_parameters(rng, family)
        spec = make(family.name, parameters, family.description.format(**parameters), folder=folder, helpers=helpers)
        if spec.objective_id not in taken:
            return spec
    raise RuntimeError(f"no new objective in {TRIES} draws: the random generator repeats itself")


def _draw_parameters(rng: np.random.Generator, family: Family) -> dict[str, Any]:
    chosen: dict[str, Any] = {name: int(rng.choice(values)) for name, values in family.choices.items()}
    return chosen | {name: round(float(rng.uniform(low, high)), 3) for name, (low, high) in family.ranges.items()}
