"""The designer's classical answers: a child by the genetic operators, the repair of a blocked file, and the
reading of its results.

The direction names the operator before its first colon and the terms in its focus; the operator is followed
seven times in ten, so that several designs of one direction differ in kind. Reference weights are the share
of inherited terms, known when the child is made, so the analysis repeats them.

As a session the designer writes its file, has it traced, and compares it on small instances with the design
it started from before it is done. That has no classical answer: by operators a design is made of terms in one
step.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from evolake.agents.fences import clean, inline
from evolake.agents.roles import Role
from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import OPERATORS, parent_of, propose
from evolake.designs.genome.open_genome import baseline, read_genome, simpler, vocabulary
from evolake.designs.genome.variation import Parent, Scale
from evolake.designs.roles.models import (
    AnalysisReply,
    AnalysisRequest,
    DesignAnalysis,
    DesignDetail,
    DesignRepairReply,
    DesignReply,
    DesignRequest,
    Direction,
    LongText,
    MeasuredDesign,
    ParentMaterial,
    ReferenceWeight,
    RepairRequest,
    RevisionReply,
    RevisionRequest,
    RoleMessage,
    SuccessLevel,
    normalised,
)
from evolake.designs.roles.request_text import (
    DIRECTION_TEXTS,
    detail_text,
    details_text,
    levels_text,
    outcomes_text,
    prompt_values,
)

LARGEST_TRIAL, MOST_INSTANCES, MOST_STEPS, MOST_SEEDS = 113, 32, 5_000, 6
"""Variables, instances of a seed, work, and seeds of one trial."""


class ReferenceCard(RoleMessage):
    """A reference by its file in the workspace, without its source."""

    file: str
    detail: DesignDetail


class DesignSessionRequest(Direction):
    """What the session is for, and what it starts from."""

    references: list[ReferenceCard]
    start: str = Field(description="what `design.py` holds at first")
    objectives: list[str]
    schedule: str
    turns: int = Field(description="turns that the session has at most")


class DesignCard(BaseModel):
    """What the session ends with; its file is the design."""

    model_config = ConfigDict(extra="forbid")
    explanation: LongText = Field(
        description="what was changed, on what evidence, and what it should improve"
    )
    short_name: str = Field(max_length=40, description="a title of at most 40 characters")
    reference_weights: list[ReferenceWeight] = Field(
        default_factory=list, description="share of each reference in this design; they sum to 1"
    )

    @model_validator(mode="after")
    def weights_sum_to_one(self) -> DesignCard:
        """Scale the reference weights so that they sum to 1."""
        self.reference_weights = normalised(self.reference_weights)
        return self


class Check(Arguments):
    """Without arguments."""


class Trial(Arguments):
    variables: int = Field(default=20, ge=3, le=LARGEST_TRIAL, description="variables of each instance")
    instances: int = Field(default=16, ge=2, le=MOST_INSTANCES, description="instances of each seed")
    seeds: int = Field(
        default=4,
        ge=1,
        le=MOST_SEEDS,
        description="batches of instances; the interval of the ratio is over them",
    )
    max_steps: int = Field(
        default=1000,
        ge=1,
        le=MOST_STEPS,
        description="work that is allowed a batch, in steps of the baseline",
    )


def _cards_text(request: DesignSessionRequest) -> str:
    """Return the references by their files."""
    return (
        "\n\n".join(
            f"file {item.file}\n{detail_text(item.detail, source=False)}" for item in request.references
        )
        or "none"
    )


DESIGN_SESSION = replace(
    session_role(
        "designs_designer_session",
        DesignSessionRequest,
        DesignCard,
        setting="EVOLAKE_DESIGNS__DESIGNER",
        commands=(
            ("check", "Trace design.py: says how many operators it has, or why it is no design.", Check),
            (
                "trial",
                "Run design.py and the design that it started from on the same planted instances: steps, "
                "work, and the ratio of work with its 95% interval.",
                Trial,
            ),
        ),
    ),
    values=prompt_values("goal", contract=True, references=_cards_text, written=DIRECTION_TEXTS),
)
"""Write one new design in a workspace."""


OBEDIENCE = 0.7
NOTHING_NEW = "nothing new found"


def write_design(request: DesignRequest, random: np.random.Generator) -> DesignReply:
    """Return a child of the first reference. Where every try is known already, the first reference again: it
    will be blocked as a duplicate."""
    parents = [_parent(item) for item in request.parents] or [parent_of("", "baseline", baseline())]
    first = parents[0]
    named = request.direction.partition(":")[0].strip()
    operator = named if first.genome and named in OPERATORS and random.random() < OBEDIENCE else None
    child = propose(
        parents,
        set(request.taken),
        random,
        operator=operator,
        focus=_preferred(request) if first.genome else (),
    )
    if child is None:
        weights = [ReferenceWeight(design_id=first.design_id, weight=1.0)] if request.parents else []
        return DesignReply(
            explanation="Every variant tried is known already.",
            solver_code=first.source,
            short_name=NOTHING_NEW,
            reference_weights=weights,
            operator="repeat",
            genome=first.genome.to_json() if first.genome else None,
        )
    return DesignReply(
        explanation=child.rationale,
        solver_code=child.source,
        short_name=child.title,
        reference_weights=[
            ReferenceWeight(design_id=design_id, weight=weight) for design_id, weight in child.weights
        ],
        operator=child.operator,
        genome=child.genome.to_json() if child.genome else None,
        hyper=dict(child.hyper),
    )


def repair_design(request: RepairRequest, random: np.random.Generator) -> DesignRepairReply:
    """Return the design less its last part. Dropping one part after the other from the end is what a person
    would try; here the last one goes. A file without a genome stays as it is."""
    if request.genome is None:
        return DesignRepairReply(
            error_summary="This file has no genome, so no operator can mend it.", solver_code=request.source
        )
    less = simpler(read_genome(request.genome))
    if less is None:
        return DesignRepairReply(
            error_summary="Nothing left to drop.", solver_code=request.source, genome=request.genome
        )
    left, last = less
    return DesignRepairReply(
        error_summary=f"Dropped {last} after: {request.error[:200]}",
        solver_code=compose(left, f"without {last}"),
        genome=left.to_json(),
    )


def analyse_designs(request: AnalysisRequest, random: np.random.Generator) -> AnalysisReply:
    """Return what the results say of each design."""
    return AnalysisReply(analyses=[analyse_design(item) for item in request.designs])


def analyse_design(design: MeasuredDesign) -> DesignAnalysis:
    """Return success by rank against the references; the insight states what changed and where it led."""
    ranks = sorted(design.reference_ranks.values())
    level = success_level(design.rank, ranks)
    solved = [item for item in design.results if item.unsolved_fraction < 0.5]
    reached = (
        f"solved up to N={solved[-1].N} with a median work of {solved[-1].median_work:.0f}"
        if solved
        else "solved no size"
    )
    against = (
        ", ".join(f"{design_id} is rank {rank}" for design_id, rank in design.reference_ranks.items())
        or "no reference was ranked"
    )
    advice = {
        "excellent": "Perturb its parameters and drop its terms one by one.",
        "good": "Graft its new terms onto other strong designs.",
        "moderate": "Perturb the new parameters before judging the term.",
        "poor": "Leave this term off this base.",
    }[level]
    return DesignAnalysis(
        design_id=design.design_id,
        short_name=design.title[:40],
        key_insight=f"{design.explanation.rstrip('.')}: rank {design.rank} of {design.ranked_designs}."[:600],
        success_level=level,
        detailed_analysis=f"At {design.fidelity} fidelity it {reached}; consensus {design.consensus:.4f}.",
        comparison_to_references=f"Rank {design.rank}; {against}.",
        recommended_next_steps=advice,
        reference_weights=design.creation_weights,
    )


def success_level(rank: int, reference_ranks: list[int]) -> SuccessLevel:
    """excellent: first of all; good: ahead of every reference; moderate: of some; poor: of none."""
    if rank == 1:
        return "excellent"
    if reference_ranks and rank < min(reference_ranks):
        return "good"
    if any(rank < other for other in reference_ranks):
        return "moderate"
    return "poor"


def _preferred(request: DesignRequest) -> list[str]:
    """Terms of the focus; without any, all terms but those to avoid."""
    focus = _terms(request.focus)
    avoid = set(_terms(request.avoid))
    return focus or ([name for name in vocabulary() if name not in avoid] if avoid else [])


def _terms(text: str) -> list[str]:
    words = set(re.findall(r"[a-z_0-9:]+", text.lower()))
    return [name for name in vocabulary() if name in words]


def _parent(item: ParentMaterial) -> Parent:
    scales = tuple(Scale(**{**scale, "choices": tuple(scale.get("choices", ()))}) for scale in item.scales)
    return Parent(
        item.design_id,
        item.title,
        item.source,
        item.values,
        scales,
        read_genome(item.genome) if item.genome else None,
    )


def keep_design(request: RevisionRequest, random: np.random.Generator) -> RevisionReply:
    """Operators keep what they made: theirs are children of measured designs, and their race measures
    them."""
    return RevisionReply(explanation="Kept.")


def _references_text(request: DesignRequest) -> str:
    """Return the references with their sources; the baseline if there is none."""
    return (
        details_text(request.references)
        if request.references
        else f"the baseline\nsource:\n{request.baseline_source}"
    )


def _changes_text(design: MeasuredDesign) -> str:
    """Return the lines that differ from its first reference; "" if there is none, or if most of the file
    differs: then the explanation says it."""
    if not design.references:
        return ""
    before, after = design.references[0].source.splitlines(), design.source.splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=0))
    return "\n".join(lines[2:]) if len(lines) < len(after) / 2 else ""


def _parents_text(design: MeasuredDesign) -> str:
    """Return the references by title, rank and share: the ratio to the first says how they did."""
    shares = {item.design_id: item.weight for item in design.creation_weights}
    return ", ".join(
        f"{item.design_id} ({inline(item.title, 80)}, rank "
        f"{design.reference_ranks.get(item.design_id, 'unknown')}, share "
        f"{shares.get(item.design_id, 0):g})"
        for item in design.references
    )


def measured_text(design: MeasuredDesign) -> str:
    """Return what the analysis reads of one design."""
    parts = (
        ("direction", clean(design.direction)),
        ("explanation", clean(design.explanation)),
        ("references", _parents_text(design)),
        ("changed lines", _changes_text(design)),
        ("results", levels_text(design.results)),
        ("against its parent", design.against_parent),
        ("scaling law", design.scaling),
        ("counted seconds of a core", "" if design.seconds is None else f"{design.seconds:g}"),
        ("rank", f"{design.rank} of {design.ranked_designs} (consensus {design.consensus:.3g}, 0 is best)"),
    )
    head = f"design {design.design_id}: {inline(design.title)}"
    return "\n".join(
        [head, *(f"{name}:{chr(10) if chr(10) in text else ' '}{text}" for name, text in parts if text)]
    )


def analyses_fault(request: AnalysisRequest, reply: AnalysisReply) -> str:
    """Return which designs have no analysis, or more than one; "" if each has one."""
    wanted, found = (
        sorted(item.design_id for item in request.designs),
        sorted(item.design_id for item in reply.analyses),
    )
    return (
        ""
        if wanted == found
        else f"`analyses` needs one entry for each of the designs {', '.join(wanted)}; got "
        f"{', '.join(found) or 'none'}"
    )


DESIGN_ROLE = Role(
    "designs_designer",
    DesignRequest,
    DesignReply,
    write_design,
    values=prompt_values(
        "goal",
        "parents",
        "taken",
        "baseline_source",
        contract=True,
        references=_references_text,
        written=DIRECTION_TEXTS,
    ),
)
DESIGN_REPAIR_ROLE = Role(
    "designs_designer_repair",
    RepairRequest,
    DesignRepairReply,
    repair_design,
    values=prompt_values("goal", "genome", contract=True),
)
REVISION_ROLE = Role("designs_designer_revision", RevisionRequest, RevisionReply, keep_design)
ANALYSIS_ROLE = Role(
    "designs_designer_analysis",
    AnalysisRequest,
    AnalysisReply,
    analyse_designs,
    fault=analyses_fault,
    values=prompt_values(
        designs=lambda request: "\n\n".join(map(measured_text, request.designs)),
        outcomes=lambda request: outcomes_text(request.outcomes),
    ),
)
