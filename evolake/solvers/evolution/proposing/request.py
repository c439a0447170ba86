"""Requests to the coder, built from plans, parents and the sources that it may see."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.solvers.edits import Edit
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.applicable import applicable, editable_tree
from evolake.solvers.edits.crossover import cross_edits, cross_files
from evolake.solvers.evolution.authors import Commission
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.evolution.proposing.draft import Draft, sources_diff
from evolake.solvers.evolution.proposing.excerpt import MAX_LINES, MAX_REGIONS, changed_excerpts, outline
from evolake.solvers.roles.coder import models_of
from evolake.solvers.roles.models import (
    SHORT_ID,
    CodeReply,
    CodeRequest,
    CoderMaterial,
    Excerpt,
    Forbidden,
    LookupRequest,
    Option,
    Plan,
    RepairRequest,
    ReviseRequest,
)


@dataclass(frozen=True)
class CoderInput:
    """The inputs of the coder in addition to its commission.

    material: for operators only. crossed: rows of what a crossover dropped. shown: the lines that a model
    wanted.
    """

    material: CoderMaterial | None = None
    crossed: tuple[dict[str, Any], ...] = ()
    shown: tuple[Excerpt, ...] = ()


def plan_of(row: Mapping[str, Any]) -> Plan:
    """Return a row of PLANS as the plan it came from, with short ids."""
    parents = [parent[:SHORT_ID] for parent in row["parent_ids"]]
    second = parents[1] if row["kind"] == "crossover" and len(parents) > 1 else None
    return Plan(
        parent_id=parents[0],
        second_parent_id=second,
        kind=row["kind"],
        hypothesis=row["hypothesis"],
        instructions=row["instructions"],
        target=row["target"] or "",
    )


def lookup_request(
    plan: Mapping[str, Any], parent: KnownVariant, base: Base, files: Mapping[str, str]
) -> LookupRequest:
    """Return what the coder is asked first: which lines it wants to see. plan: a row of PLANS. files: path ->
    text of the parent's editable files."""
    return LookupRequest(
        hypothesis=plan["hypothesis"],
        instructions=plan["instructions"],
        base=base.name,
        files=outline(files),
        parent_diff=sources_diff(base.folder, parent.folder),
        max_regions=MAX_REGIONS,
        max_lines=MAX_LINES,
    )


def code_request(commission: Commission, given: CoderInput) -> CodeRequest:
    """Return what the coder is asked then: the change."""
    plan, parents, base = commission.plan, commission.parents, commission.base
    return CodeRequest(
        hypothesis=plan["hypothesis"],
        instructions=plan["instructions"],
        base=base.name,
        parent=commission.standing,
        parent_diff=sources_diff(base.folder, parents[0].folder),
        excerpts=list(given.shown),
        rules=list(commission.rules),
        plan=plan_of(plan),
        material=given.material or CoderMaterial(),
        knowledge=list(commission.knowledge),
        tried=list(commission.tried),
        **second_of(commission),
        **commission.change(),
    )


def second_of(commission: Commission) -> dict[str, str]:
    """Return what a request says of a crossover's second parent: its diff against its own base, and that base
    where it is another one."""
    if len(commission.parents) < 2:
        return {}
    other = commission.second_base
    diff = sources_diff(other.folder, commission.parents[1].folder)
    return {
        "second_parent_diff": diff,
        "second_base": "" if other.name == commission.base.name else other.name,
    }


def repair_request(
    commission: Commission, given: CoderInput, reply: CodeReply, draft: Draft, error: str, output: str
) -> RepairRequest:
    """`diff` is what was written where it was a diff, else what the edits came to. output: what the program
    wrote where a run did not end well."""
    plan, parents = commission.plan, commission.parents
    diff = reply.diff or sources_diff(parents[0].folder, draft.folder)
    return RepairRequest(
        hypothesis=plan["hypothesis"],
        instructions=plan["instructions"],
        diff=diff,
        error=error,
        output=output,
        excerpts=list(given.shown),
        rules=list(commission.rules),
        plan=plan_of(plan),
        edits=reply.edits,
        material=given.material or CoderMaterial(),
        knowledge=list(commission.knowledge),
    )


def revise_request(commission: Commission, given: CoderInput, draft: Draft, measured: str) -> ReviseRequest:
    """Return what the coder is asked once its variant was run next to its parent."""
    diff = sources_diff(commission.parents[0].folder, draft.folder)
    return ReviseRequest(
        hypothesis=commission.plan["hypothesis"],
        diff=diff,
        measured=measured,
        excerpts=changed_excerpts(given.shown, diff),
        note=commission.note,
    )


def operators_input(
    commission: Commission, scratch: Path, taken: set[str], forbidden: Sequence[Forbidden]
) -> CoderInput:
    """Return what the operators work with. scratch: a folder that a crossover by files makes. taken: texts of
    `edits.json` that exist."""
    parents, base = commission.parents, commission.base
    parent = parents[0]
    material = _material(parent.edits, parent, base).model_copy(
        update={"forbidden": list(forbidden), "taken": sorted(taken)}
    )
    if commission.plan["kind"] != "crossover" or len(parents) < 2 or parents[1].base != parent.base:
        return CoderInput(material)
    first, second = parents
    if first.edits is not None and second.edits is not None:
        crossed = cross_edits(source_files(base.folder), base.adapter, first.edits, second.edits)
        further = _material(crossed.edits, parent, base)
        joined = {
            "joined": models_of(crossed.edits),
            "dropped": [str(item) for item in crossed.dropped],
            "options": further.options,
            "patches": further.patches,
        }
        return CoderInput(material.model_copy(update=joined), tuple(item.row() for item in crossed.dropped))
    dropped = cross_files(base.folder, first.folder, second.folder, scratch, base.adapter.editable)
    joined = {"joined_diff": sources_diff(first.folder, scratch), "dropped": [str(item) for item in dropped]}
    return CoderInput(material.model_copy(update=joined), tuple(item.row() for item in dropped))


def _material(edits: Sequence[Edit] | None, parent: KnownVariant, base: Base) -> CoderMaterial:
    """Return what applies next to these edits to the base or, if there are none since the parent was written
    as a diff, to the parent."""
    result = applicable(
        editable_tree(source_files(base.folder if edits is not None else parent.folder), base.adapter),
        edits or (),
    )
    options = [
        Option(
            name=item.name,
            kind=item.kind,
            default=item.default,
            low=_finite(item.low),
            high=_finite(item.high),
        )
        for item in result.options
    ]
    return CoderMaterial(
        base=base.name,
        edits=None if edits is None else models_of(edits),
        options=options,
        patches=list(result.patches),
    )


def _finite(bound: float) -> float | None:
    return None if math.isinf(bound) else bound
