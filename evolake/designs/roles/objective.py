"""The classical answers of the objective writer and the meta reviewer: draws from the portfolio, and the review of `evolake.objectives`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from evolake.agents.roles import Role, hide
from evolake.designs.roles.models import (
    ObjectiveAnalysis,
    ObjectiveRepairReply,
    ObjectiveReply,
    ObjectiveRequest,
    RepairRequest,
    ReviewReply,
    ReviewRequest,
)
from evolake.objectives.consensus import aggregate
from evolake.objectives.phase import Progress
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, Known, draw
from evolake.objectives.review import Reviewed, review
from evolake.objectives.source import objective_id


def write_objective(request: ObjectiveRequest, random: np.random.Generator) -> ObjectiveReply:
    """A family that is rare so far with random parameters; families that the review or people name are likelier."""
    known = [Known(objective_id(item.source), item.family) for item in request.existing]
    spec = draw(random, known, wanted=families_wanted(request.review_guidance, request.guidance))
    return ObjectiveReply(
        objective_description=spec.description, objective_code=spec.source, family=spec.family, parameters=dict(spec.parameters)
    )


def repair_objective(request: RepairRequest, random: np.random.Generator) -> ObjectiveRepairReply:
    """A fresh draw: a family cannot be mended, only replaced."""
    spec = draw(random, [])
    return ObjectiveRepairReply(
        error_summary=f"Replaced by another draw ({spec.family}).", objective_code=spec.source, objective_description=spec.description,
        family=spec.family, parameters=dict(spec.parameters),
    )


def review_objectives(request: ReviewRequest, random: np.random.Generator) -> ReviewReply:
    """The review of `evolake.objectives.review`, on the consensus that the request's scores, rounds and multipliers give."""
    ids = [item.objective_id for item in request.objectives]
    table = np.array([[np.inf if score is None else score for score in request.scores[name]] for name in ids], dtype=np.float64)
    table = table.reshape(len(ids), len(request.design_ids))
    multipliers = [item.multiplier for item in request.objectives]
    consensus = aggregate(table, [item.created_round for item in request.objectives], request.round, multipliers=multipliers, ids=request.design_ids)
    found = review(
        [Reviewed(item.objective_id, item.family, item.multiplier) for item in request.objectives], table, consensus, request.largest_solved,
        [Progress(entry.cycle, entry.reach, entry.steps) for entry in request.progress],
    )
    return ReviewReply(
        research_assessment=found.assessment, research_phase=found.phase, objective_directions=found.guidance,
        objective_analysis=[
            ObjectiveAnalysis(objective_id=item.objective_id, assessment=item.assessment[:600], weight_multiplier=item.multiplier)
            for item in found.objectives
        ],
    )


def families_wanted(review_guidance: str, guidance: Sequence[str]) -> list[str]:
    """Families that the review asks for (it puts their names in brackets) or that people name."""
    asked = set(re.findall(r"\((\w+)\)", review_guidance)) | set(re.findall(r"\w+", " ".join(guidance).lower()))
    return [name for name in OBJECTIVE_FAMILIES if name in asked]


OBJECTIVE_ROLE = Role("designs_objective_writer", ObjectiveRequest, ObjectiveReply, write_objective)
OBJECTIVE_REPAIR_ROLE = Role("designs_objective_repair", RepairRequest, ObjectiveRepairReply, repair_objective, values=hide("genome"))
REVIEW_ROLE = Role("designs_meta_reviewer", ReviewRequest, ReviewReply, review_objectives)
