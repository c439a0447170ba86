"""The classical answers of the objective writer and the meta reviewer: draws from the portfolio, and the review of `evolake.objectives`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evolake.designs.role_models import ObjectiveRepairReply, ObjectiveReply, ObjectiveRequest, RepairRequest
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, draw
from evolake.objectives.source import objective_id


@dataclass(frozen=True)
class _Known:
    objective_id: str
    family: str


def write_objective(request: ObjectiveRequest, random: np.random.Generator) -> ObjectiveReply:
    """A family that is rare so far with random parameters; families that the review or people name are likelier."""
    known = [_Known(objective_id(item.source), item.family) for item in request.existing]
    spec = draw(random, known, wanted=families_named(request.review_guidance, *request.guidance))
    return ObjectiveReply(
        objective_description=spec.description, objective_code=spec.source, family=spec.family, parameters=dict(spec.parameters)
    )


def repair_objective(request: RepairRequest, random: np.random.Generator) -> ObjectiveRepairReply:
    """A fresh draw: a family cannot be mended, only replaced."""
    spec = draw(random, [])
    return ObjectiveRepairReply(error_summary=f"Replaced by another draw ({spec.family}).", objective_code=spec.source)


def families_named(*texts: str) -> list[str]:
    """Families of the portfolio that a text names."""
    joined = " ".join(texts).lower()
    return [name for name in OBJECTIVE_FAMILIES if name in joined]
