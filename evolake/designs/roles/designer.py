"""The designer's classical answers: a child by the genetic operators, the repair of a blocked file, and the reading of its results.

The direction names the operator before its first colon and the terms in its focus; the operator is followed seven times in ten, so that several
designs of one direction differ in kind. Reference weights are
the share of inherited terms, known when the child is made, so the analysis repeats them.
"""

from __future__ import annotations

import difflib
import re

import numpy as np

from evolake.agents.fences import inline
from evolake.agents.roles import Role
from evolake.designs.genome.grammar import Grammar
from evolake.designs.genome.grammars import compose, grammar_of, parent_of, propose, read_genome, simpler
from evolake.designs.genome.open_grammar import OPEN
from evolake.designs.genome.values import Scale
from evolake.designs.genome.variation import Parent
from evolake.designs.roles.models import (
    AnalysisReply,
    AnalysisRequest,
    DesignRepairReply,
    DesignReply,
    DesignRequest,
    ParentMaterial,
    ReferenceWeight,
    RepairRequest,
    RevisionReply,
    RevisionRequest,
    SuccessLevel,
)
from evolake.designs.roles.request_text import DIRECTION_TEXTS, details_text, levels_text, outcomes_text, prompt_values

OBEDIENCE = 0.7
NOTHING_NEW = "nothing new found"


def write_design(request: DesignRequest, random: np.random.Generator) -> DesignReply:
    """A child of the first reference. Where every try is known already, the first reference again: it will be blocked as a duplicate."""
    parents = [_parent(item) for item in request.parents] or [parent_of("", "baseline", OPEN.baseline())]
    first = parents[0]
    grammar = grammar_of(first.genome) if first.genome else None
    named = request.direction.partition(":")[0].strip()
    operator = named if grammar and named in grammar.operators and random.random() < OBEDIENCE else None
    child = propose(parents, set(request.taken), random, operator=operator, focus=_preferred(request, grammar) if grammar else ())
    if child is None:
        weights = [ReferenceWeight(design_id=first.design_id, weight=1.0)] if request.parents else []
        return DesignReply(
            explanation="Every variant tried is known already.", solver_code=first.source, short_name=NOTHING_NEW, reference_weights=weights,
            operator="repeat", genome=first.genome.to_json() if first.genome else None,
        )
    return DesignReply(
        explanation=child.rationale, solver_code=child.source, short_name=child.title,
        reference_weights=[ReferenceWeight(design_id=design_id, weight=weight) for design_id, weight in child.weights],
        operator=child.operator, genome=child.genome.to_json() if child.genome else None, hyper=dict(child.hyper),
    )


def repair_design(request: RepairRequest, random: np.random.Generator) -> DesignRepairReply:
    """Dropping one part after the other from the end is what a person would try; here the last one goes. A file without a genome stays as it is."""
    if request.genome is None:
        return DesignRepairReply(error_summary="This file has no genome, so no operator can mend it.", solver_code=request.source)
    less = simpler(read_genome(request.genome))
    if less is None:
        return DesignRepairReply(error_summary="Nothing left to drop.", solver_code=request.source, genome=request.genome)
    left, last = less
    return DesignRepairReply(
        error_summary=f"Dropped {last} after: {request.error[:200]}", solver_code=compose(left, f"without {last}"), genome=left.to_json(),
    )


def analyse_design(request: AnalysisRequest, random: np.random.Generator) -> AnalysisReply:
    """Success by rank against the references; the insight states what changed and where it led."""
    ranks = sorted(request.reference_ranks.values())
    level = success_level(request.rank, ranks)
    solved = [item for item in request.results if item.unsolved_fraction < 0.5]
    reached = f"solved up to N={solved[-1].N} with a median work of {solved[-1].median_work:.0f}" if solved else "solved no size"
    against = ", ".join(f"{design_id} is rank {rank}" for design_id, rank in request.reference_ranks.items()) or "no reference was ranked"
    advice = {
        "excellent": "Perturb its parameters and drop its terms one by one.", "good": "Graft its new terms onto other strong designs.",
        "moderate": "Perturb the new parameters before judging the term.", "poor": "Leave this term off this base.",
    }[level]
    return AnalysisReply(
        short_name=request.title[:40], key_insight=f"{request.explanation.rstrip('.')}: rank {request.rank} of {request.ranked_designs}."[:600],
        success_level=level, detailed_analysis=f"At {request.fidelity} fidelity it {reached}; consensus {request.consensus:.4f}.",
        comparison_to_references=f"Rank {request.rank}; {against}.", recommended_next_steps=advice, reference_weights=request.creation_weights,
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


def _preferred(request: DesignRequest, grammar: Grammar) -> list[str]:
    """Terms of the focus; without any, all terms but those to avoid."""
    focus = _terms(request.focus, grammar)
    avoid = set(_terms(request.avoid, grammar))
    return focus or ([name for name in grammar.terms() if name not in avoid] if avoid else [])


def _terms(text: str, grammar: Grammar) -> list[str]:
    words = set(re.findall(r"[a-z_0-9:]+", text.lower()))
    return [name for name in grammar.terms() if name in words]


def _parent(item: ParentMaterial) -> Parent:
    scales = tuple(Scale(**{**scale, "choices": tuple(scale.get("choices", ()))}) for scale in item.scales)
    return Parent(item.design_id, item.title, item.source, item.values, scales, read_genome(item.genome) if item.genome else None)


def keep_design(request: RevisionRequest, random: np.random.Generator) -> RevisionReply:
    """Operators keep what they made: theirs are children of measured designs, and their race measures them."""
    return RevisionReply(explanation="Kept.")


def _references_text(request: DesignRequest) -> str:
    """Return the references with their sources; the baseline where there is none."""
    return details_text(request.references) if request.references else f"the baseline\nsource:\n{request.baseline_source}"


def _changes_text(request: AnalysisRequest) -> str:
    """Return the lines that differ from its first reference; the whole file if there is none, or if most of it differs."""
    if not request.references:
        return request.source
    before, after = request.references[0].source.splitlines(), request.source.splitlines()
    lines = list(difflib.unified_diff(before, after, request.references[0].design_id, "this design", lineterm="", n=1))
    return "\n".join(lines) if len(lines) < len(after) else request.source


def _parents_text(request: AnalysisRequest) -> str:
    """Return the references by title, rank and lesson: the ratio to the first says how they did."""
    ranks = request.reference_ranks
    lines = [
        f"{item.design_id}: {inline(item.title)}, rank {ranks.get(item.design_id, 'unknown')}. {inline(item.key_insight)}".rstrip()
        for item in request.references
    ]
    return "\n".join(lines) or "none"


DESIGN_ROLE = Role("designs_designer", DesignRequest, DesignReply, write_design, values=prompt_values(
    "parents", "taken", "baseline_source", contract=True, references=_references_text, written=DIRECTION_TEXTS,
))
DESIGN_REPAIR_ROLE = Role(
    "designs_designer_repair", RepairRequest, DesignRepairReply, repair_design, values=prompt_values("goal", "genome", contract=True),
)
REVISION_ROLE = Role("designs_designer_revision", RevisionRequest, RevisionReply, keep_design, values=prompt_values(costs=True))
ANALYSIS_ROLE = Role("designs_designer_analysis", AnalysisRequest, AnalysisReply, analyse_design, values=prompt_values(
    "reference_ranks", source=_changes_text, results=lambda request: levels_text(request.results), references=_parents_text,
    outcomes=lambda request: outcomes_text(request.outcomes),
))
