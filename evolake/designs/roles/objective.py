"""The classical answers of the objective writer and the meta reviewer: a search over objective programs, and
the review of `evolake.objectives`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evolake.agents.fences import inline
from evolake.agents.roles import Role, hide
from evolake.designs.roles.models import (
    SHORT_ID,
    ObjectiveAnalysis,
    ObjectiveRepairReply,
    ObjectiveReply,
    ObjectiveRequest,
    ObjectiveSummary,
    ProgramRepairReply,
    ProgramReply,
    RepairRequest,
    ReviewReply,
    ReviewRequest,
)
from evolake.designs.roles.request_text import outcomes_text, results_text, summaries_text
from evolake.objectives.consensus import aggregate
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, Known, new_objective
from evolake.objectives.programs.compose import COUNTERPARTS, compose, counterpart, of_family, read, words
from evolake.objectives.programs.expression import from_json
from evolake.objectives.programs.genetic import MUTATIONS, Child, Parent, propose, ranking
from evolake.objectives.review import Progress, Reviewed, review
from evolake.objectives.source import objective_id

PROGRAM = "program"
LONGEST_DESCRIPTION = 600
START_ODDS = 0.5
OBJECTIVES_HEAD = "objective | family | round | weight | multiplier | median tau | what it looks at"


def write_objective(request: ObjectiveRequest, random: np.random.Generator) -> ObjectiveReply:
    """Return a program that no objective so far is: drawn, varied or crossed.

    Parents are the objectives that vote, as programs: objectives that are programs, and templates by what
    their family looks at; other files are no parents. Families that the review or people name are likelier
    parents, or what a drawn program begins with. If nothing new is found, a template is drawn.
    """
    wanted = families_wanted(request.review_guidance, request.guidance)
    parents = [parent for item in request.existing if (parent := parent_of(item, wanted)) is not None]
    asked = [name for name in wanted if name in COUNTERPARTS]
    start = (
        of_family(asked[int(random.integers(len(asked)))]) if asked and random.random() < START_ODDS else None
    )
    child = propose(parents, {ranking(parent.program) for parent in parents}, random, start=start)
    if child is None:
        spec = new_objective(
            random,
            [Known(objective_id(item.source), item.family) for item in request.existing],
            wanted=wanted,
        )
        return ObjectiveReply(
            objective_description=spec.description,
            objective_code=spec.source,
            family=spec.family,
            parameters=dict(spec.parameters),
        )
    return ProgramReply(
        objective_description=words(child.program)[:LONGEST_DESCRIPTION],
        objective_code=compose(child.program),
        family=PROGRAM,
        operator=child.operator,
        parents=dict(child.weights),
    )


def repair_objective(request: RepairRequest, random: np.random.Generator) -> ObjectiveRepairReply:
    """Return a mutation of the program that was blocked; a drawn program in the place of a file that is none,
    for there is nothing in it to vary."""
    blocked = read(request.source)
    child: Child | None
    if blocked is None:
        child, text = (
            propose([], set(), random),
            "Replaced by a drawn program: the file is no program that could be varied.",
        )
    else:
        child = propose([Parent("", blocked)], {ranking(blocked)}, random, operators=tuple(MUTATIONS))
        text = "" if child is None else f"Varied ({child.operator})."
    if child is None:
        child, text = propose([], set(), random), "Replaced by a drawn program: no variation was any better."
    if child is None:
        spec = new_objective(random, [])
        return ObjectiveRepairReply(
            error_summary=f"Replaced by a template ({spec.family}).",
            objective_code=spec.source,
            objective_description=spec.description,
            family=spec.family,
            parameters=dict(spec.parameters),
        )
    return ProgramRepairReply(
        error_summary=text,
        objective_code=compose(child.program),
        objective_description=words(child.program)[:LONGEST_DESCRIPTION],
        family=PROGRAM,
        operator=child.operator,
    )


def parent_of(item: ObjectiveSummary, wanted: Sequence[str]) -> Parent | None:
    """Return an objective as a parent; None for a file that no program was written as and that is no template
    of ours."""
    program = (from_json(item.genome) if item.genome else None) or counterpart(
        item.family, item.parameters, item.source
    )
    if program is None:
        return None
    return Parent(item.objective_id, program, item.weight, item.nearest_tau, item.family in wanted)


def review_objectives(request: ReviewRequest, random: np.random.Generator) -> ReviewReply:
    """Return the review of `evolake.objectives.review`, on the consensus that the request's scores, rounds
    and multipliers give."""
    ids = [item.objective_id for item in request.objectives]
    table = np.array(
        [[np.inf if score is None else score for score in request.scores[name]] for name in ids],
        dtype=np.float64,
    )
    table = table.reshape(len(ids), len(request.design_ids))
    multipliers = [item.multiplier for item in request.objectives]
    consensus = aggregate(
        table,
        [item.created_round for item in request.objectives],
        request.round,
        multipliers=multipliers,
        ids=request.design_ids,
    )
    result = review(
        [Reviewed(item.objective_id, item.family, item.multiplier) for item in request.objectives],
        table,
        consensus,
        request.largest_solved,
        [Progress(entry.cycle, entry.reach, entry.steps) for entry in request.progress],
    )
    return ReviewReply(
        research_assessment=result.assessment,
        research_phase=result.phase,
        objective_directions=result.guidance,
        objective_analysis=[
            ObjectiveAnalysis(
                objective_id=item.objective_id,
                assessment=item.assessment[:600],
                weight_multiplier=item.multiplier,
            )
            for item in result.objectives
        ],
    )


def families_wanted(review_guidance: str, guidance: Sequence[str]) -> list[str]:
    """Return families that the review asks for (it puts their names in brackets) or that people name."""
    asked = set(re.findall(r"\((\w+)\)", review_guidance)) | set(
        re.findall(r"\w+", " ".join(guidance).lower())
    )
    return [name for name in OBJECTIVE_FAMILIES if name in asked]


def _of_writer(request: ObjectiveRequest) -> dict[str, Any]:
    """As the writer is asked: tables in place of records, and of the objectives the source of the heaviest,
    as an example of the form."""
    shown = {name: getattr(request, name) for name in ("goal", "schedule", "guidance")}
    return shown | {
        "recent_results": results_text(request.recent_results),
        "outcomes": outcomes_text(request.outcomes),
        "existing": "\n".join([OBJECTIVES_HEAD, *map(_objective_line, request.existing)]),
        "example": request.existing[0].source if request.existing else request.baseline_source,
        "blocked": "\n".join(f"- {inline(line, LONGEST_DESCRIPTION)}" for line in request.blocked),
        "review_guidance": "" if request.review_guidance == "none yet" else request.review_guidance,
    }


def _of_review(request: ReviewRequest) -> dict[str, Any]:
    """As the reviewer is asked: tables in place of records, and objectives by their descriptions, without
    sources."""
    shown = {name: getattr(request, name) for name in ("goal", "round", "schedule", "progress", "guidance")}
    given = request.previous_guidance
    return shown | {
        "objectives": "\n".join([OBJECTIVES_HEAD, *map(_objective_line, request.objectives)]),
        "tau": "\n".join(" ".join(map(_figure, row)) for row in request.tau),
        "top_designs": summaries_text(request.top_designs),
        "scores": _scores_text(request),
        "outcomes": outcomes_text(request.outcomes),
        "previous_guidance": "" if given == "none yet" else given,
    }


def _objective_line(item: ObjectiveSummary) -> str:
    """Return an objective in a line."""
    figures = (str(item.created_round), *map(_figure, (item.weight, item.multiplier, item.median_tau)))
    looks = inline(item.description, LONGEST_DESCRIPTION)
    looks += f" (no score for {item.without_score} designs)" if item.without_score else ""
    looks += f" Last review: {inline(item.assessment, LONGEST_DESCRIPTION)}" if item.assessment else ""
    return " | ".join((item.objective_id[:SHORT_ID], item.family, *figures, looks))


def _scores_text(request: ReviewRequest) -> str:
    """Return a line for each design: the largest size that it solved, and its score by each objective."""
    names = list(request.scores)
    lines = [f"design | largest N solved | {' | '.join(name[:SHORT_ID] for name in names)}"]
    for place, (design, largest) in enumerate(zip(request.design_ids, request.largest_solved, strict=False)):
        scores = [
            _figure(request.scores[name][place]) if place < len(request.scores[name]) else ""
            for name in names
        ]
        lines.append(" | ".join((design, str(largest), *scores)))
    return "\n".join(lines)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


OBJECTIVE_ROLE = Role(
    "designs_objective_writer", ObjectiveRequest, ObjectiveReply, write_objective, values=_of_writer
)
OBJECTIVE_REPAIR_ROLE = Role(
    "designs_objective_repair", RepairRequest, ObjectiveRepairReply, repair_objective, values=hide("genome")
)
REVIEW_ROLE = Role("designs_meta_reviewer", ReviewRequest, ReviewReply, review_objectives, values=_of_review)
