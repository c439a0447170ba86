"""The objective writer's classical answer: a search over families of objectives and their constants.

Half of the time one that votes is mutated, the heavier the likelier: one of its constants moves, sometimes
several. Else a family is drawn, the likelier the fewer of it vote or were blocked, four times as likely where
people named it. What the trial blocked counts against its family, so that the search moves on from what only
repeats others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.objectives.family import Family
from evolake.objectives.portfolio import Known, ObjectiveSpec, make
from evolake.objectives.source import objective_id
from evolake.solvers.objectives.portfolio import FAMILIES, FOLDER, HELPERS, draw_objective
from evolake.solvers.roles.review_models import ObjectiveReply, ObjectiveRequest, ObjectiveSummary
from evolake.solvers.roles.shown import stated

MUTATE = 0.5
STEP = 0.35
"""Standard deviation of a move, as a share of the constant's range."""
MOVE_MORE = 0.3
TRIES = 20
LEAST_WEIGHT = 0.02
SHOWN_SOURCES = 3
"""Objectives, the heaviest, whose text a model is shown; of the others it reads the description."""


def write_objective(request: ObjectiveRequest, random: np.random.Generator) -> ObjectiveReply:
    """Return a mutation of an objective that votes, or a draw."""
    known = [Known(objective_id(item.source), item.family) for item in request.existing]
    spec = None
    if random.random() < MUTATE:
        spec = mutated(request.existing, random)
    if spec is None:
        avoided = [Known("", item.family) for item in request.blocked]
        spec = draw_objective(random, [*known, *avoided], families_named(request.guidance))
    return ObjectiveReply(
        description=spec.description, source=spec.source, family=spec.family, parameters=dict(spec.parameters)
    )


def mutated(existing: Sequence[ObjectiveSummary], random: np.random.Generator) -> ObjectiveSpec | None:
    """Return one of the objectives with other constants; None if no family is known or no constant can
    move."""
    parents = [item for item in existing if item.family in FAMILIES]
    if not parents:
        return None
    odds = np.array([item.weight + LEAST_WEIGHT for item in parents])
    taken = {objective_id(item.source) for item in existing}
    for _ in range(TRIES):
        parent = parents[int(random.choice(len(parents), p=odds / odds.sum()))]
        family = FAMILIES[parent.family]
        parameters = _moved(family, _values(family, parent), random)
        spec = make(
            family.name, parameters, family.description.format(**parameters), folder=FOLDER, helpers=HELPERS
        )
        if spec.objective_id not in taken:
            return spec
    return None


def families_named(guidance: Sequence[str]) -> list[str]:
    """Return families whose names people wrote."""
    words = set(re.findall(r"\w+", " ".join(guidance).lower()))
    return [name for name in FAMILIES if name in words]


def _values(family: Family, parent: ObjectiveSummary) -> dict[str, float | int]:
    """Return the parent's constants; those that it leaves at the family file's value start in the middle."""
    start = {name: values[len(values) // 2] for name, values in family.choices.items()}
    middle = {name: round((low + high) / 2, 3) for name, (low, high) in family.ranges.items()}
    return {
        **start,
        **middle,
        **{name: value for name, value in parent.parameters.items() if name in start or name in middle},
    }


def _moved(
    family: Family, values: dict[str, float | int], random: np.random.Generator
) -> dict[str, float | int]:
    """Return the constants with one of them moved, and each other one with some probability, independently.
    Values stay in their ranges."""
    names = list(values)
    first = names[int(random.integers(len(names)))]
    moved = dict(values)
    for name in names:
        if name != first and random.random() >= MOVE_MORE:
            continue
        if name in family.choices:
            others = [value for value in family.choices[name] if value != values[name]]
            moved[name] = int(random.choice(others)) if others else values[name]
        else:
            low, high = family.ranges[name]
            moved[name] = round(
                float(np.clip(values[name] + random.normal(0, STEP * (high - low)), low, high)), 3
            )
    return moved


def _prompt_values(request: ObjectiveRequest) -> dict[str, Any]:
    """Return the request as a model is sent it: formulas in a line each, and of an objective only what was
    found."""
    formulas = [
        f"{item.family}, {item.expected or 'unknown'}: {item.formulas} formulas, {item.solved_share:.0%} "
        "solved"
        for item in request.formulas
    ]
    voting = [
        f"weight {item.weight:.3g}, median_tau {item.median_tau:.2g}: "
        f"{'; '.join([item.description, *item.findings])}"
        + (f"\n{item.source}" if place < SHOWN_SOURCES else "")
        for place, item in enumerate(request.existing)
    ]
    blocked = [f"{item.description}: {item.reason}" for item in request.blocked]
    return {
        "goal": request.goal,
        "cycle": request.cycle,
        "guidance": request.guidance,
        "note": request.note or "one objective",
    } | stated(
        {
            "formulas": "\n".join(formulas),
            "existing": "\n".join(voting),
            "blocked": "\n".join(blocked),
            "contests": "\n".join(request.contests),
        }
    )


OBJECTIVE_WRITER = Role(
    "solvers_objective_writer", ObjectiveRequest, ObjectiveReply, write_objective, values=_prompt_values
)
