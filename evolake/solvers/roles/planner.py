"""The planner's classical answer: moves drawn uniformly at random.

A move is a parent, an operator (a patch, an option, another value of an edit that is there, or a crossover)
and what it changes. Each is drawn with even odds among those that are possible. What people ask for through
`evolake guide` comes first as far as a program can follow: edits whose name, or a word of it, the text holds.

A crossover joins any two variants of one base, and drops what conflicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from evolake.agents.roles import Role
from evolake.solvers.edits.apply import cross_gives_new
from evolake.solvers.edits.catalogue import PATCHES
from evolake.solvers.roles.coder import edits_of, forbidden
from evolake.solvers.roles.models import SHORT_ID, EditModel, Material, Plan, PlanReply, PlanRequest, Standing
from evolake.solvers.roles.shown import (
    code_text,
    diffs_text,
    families_text,
    first_excerpts,
    sources_text,
    standings_text,
    stated,
)

ItemT = TypeVar("ItemT")
LONGEST_CODE = 4_500
"""Characters of code in a planner's prompt: it names functions, and a coder reads them."""


def plan_cycle(request: PlanRequest, random: np.random.Generator) -> PlanReply:
    """Return one plan after the other: a parent, a kind of change that it allows, and an edit that is not in
    use already."""
    materials = {item.variant_id: item for item in request.materials}
    parents = [item for item in request.standings if item.variant_id in materials]
    if not parents:
        raise ValueError("a plan needs a parent with material")
    parents = [item for item in parents if not _barren(materials[item.variant_id], request)] or parents
    parents = [
        item for item in parents if materials[item.variant_id].patches or materials[item.variant_id].options
    ] or parents
    used: set[tuple[str, str]] = set()
    plans = [_plan(request, parents, materials, used, random) for _ in range(request.plans_wanted)]
    tried = [attempt for attempt in request.history if attempt.gain is not None]
    best = max(tried, key=lambda attempt: attempt.gain or 0.0, default=None)
    said = (
        f"Best change so far: {', '.join(best.changed)} on {best.base}, {best.gain:+.2f} of the ranks."
        if best and best.changed
        else ""
    )
    blocked = sum(attempt.outcome == "blocked" for attempt in request.history)
    return PlanReply(
        assessment=f"{len(request.history)} variants tried, {blocked} blocked. {said}".strip(), plans=plans
    )


def asked_for(guidance: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Return keys whose name a note of guidance holds; if it holds none, those of which it holds a word of at
    least four letters."""
    text = " ".join(guidance).lower()
    words = set(re.findall(r"[a-z0-9-]+", text))
    whole = [key for key in keys if key.partition(":")[2].lower() in words]
    return whole or [
        key for key in keys if any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in _words(key))
    ]


def _words(key: str) -> list[str]:
    return [word for word in key.partition(":")[2].lower().split("-") if len(word) >= 4]


def _plan(
    request: PlanRequest,
    parents: Sequence[Standing],
    materials: Mapping[str, Material],
    used: set[tuple[str, str]],
    random: np.random.Generator,
) -> Plan:
    parent = _one_of(parents, random)
    material = materials[parent.variant_id]
    partners = [
        item
        for item in parents
        if item.variant_id != parent.variant_id
        and item.base == parent.base
        and _joins(material, materials[item.variant_id], used)
    ]
    asked = asked_for(request.guidance, list(_keys(material)))
    operator = _one_of(_operators(material, crossing=bool(partners) and not asked), random)
    if operator == "crossover":
        partner = _one_of(partners, random)
        used.add(_pair(parent.variant_id, partner.variant_id))
        return Plan(
            parent_id=parent.variant_id,
            second_parent_id=partner.variant_id,
            kind="crossover",
            hypothesis=(
                f"The gains of {parent.title} and {partner.title} come from different parts of the solver and "
                "add up."
            ),
            instructions="Join the edits of both; where they conflict keep those of the first.",
        )
    if operator == "mutate":
        chosen = _one_of(movable(material), random)
        return Plan(
            parent_id=parent.variant_id,
            kind="mutate",
            target=f"{chosen.kind}:{chosen.name}",
            hypothesis=f"{chosen.name} in {parent.title} may not be at its best value yet.",
            instructions=f"Move one value of {chosen.name} a little.",
        )
    key = _one_of(_wanted_keys(request, material, operator, used, asked), random)
    used.add((material.base, key))
    kind, _, name = key.partition(":")
    expected = f" {PATCHES[name].expects}" if kind == "patch" and name in PATCHES else ""
    return Plan(
        parent_id=parent.variant_id,
        kind="patch" if kind == "patch" else "tunable",
        target=key,
        hypothesis=f"{name} may help {parent.title}.{expected}",
        instructions=f"Change {name}.",
    )


def _one_of(items: Sequence[ItemT], random: np.random.Generator) -> ItemT:
    """Return one of the items, with even odds."""
    return items[int(random.integers(len(items)))]


def _keys(material: Material) -> Iterator[str]:
    """Keys of the edits that apply to a variant."""
    yield from (f"patch:{name}" for name in material.patches)
    yield from (f"tunable:{name}" for name in material.options)


def movable(material: Material) -> list[EditModel]:
    """Return the edits whose values a mutation can move, of those that still decide something; a switch that
    was thrown could only be thrown back, which is the parent's parent again."""
    there = set(_keys(material))
    return [
        edit
        for edit in material.edits or []
        if f"{edit.kind}:{edit.name}" in there
        and any(value not in (False, True) for value in edit.parameters.values())
    ]


def _barren(material: Material, request: PlanRequest) -> bool:
    """Return whether a learned rule blocks what the variant carries, and so whatever is built on it."""
    return forbidden(edits_of(material.edits or []), request.forbidden, material.base)


def _joins(first: Material, second: Material, used: set[tuple[str, str]]) -> bool:
    """Return whether a crossover of the two can give something new. By files, which two give one child only,
    it is done once."""
    if first.edits is None or second.edits is None:
        done = second.variant_id in first.joined or _pair(first.variant_id, second.variant_id) in used
        return not done and cross_gives_new(first.changed, second.changed)
    return bool(second.edits) and [edit.model_dump() for edit in first.edits] != [
        edit.model_dump() for edit in second.edits
    ]


def _pair(first: str, other: str) -> tuple[str, str]:
    return min(first, other), max(first, other)


def _operators(material: Material, *, crossing: bool) -> list[str]:
    """Return the operators that are possible on a parent. crossing: whether it can be crossed with another."""
    possible = {
        "patch": bool(material.patches),
        "tunable": bool(material.options),
        "mutate": bool(movable(material)),
        "crossover": crossing,
    }
    if not any(possible.values()):
        raise ValueError(
            f"nothing in {material.variant_id} can be edited by operators: no option and no patch is "
            f"known for {material.base}"
        )
    return [name for name, there in possible.items() if there]


def _wanted_keys(
    request: PlanRequest, material: Material, operator: str, used: set[tuple[str, str]], asked: Sequence[str]
) -> list[str]:
    """Return the keys of the edits to draw from: those of the operator that no rule forbids, that the parent
    does not carry and that no plan of the cycle uses; asked-for ones alone if there are any."""
    banned = {
        f"{group}:{rule.edit}"
        for rule in request.forbidden
        for group in ("patch", "tunable")
        if not rule.parameters and rule.base in ("", material.base)
    }
    carried = {f"{edit.kind}:{edit.name}" for edit in material.edits or []}
    there = list(_keys(material))
    known = [key for key in there if key not in banned] or there
    fresh = [key for key in known if (material.base, key) not in used and key not in carried] or known
    return (
        [key for key in fresh if key in asked]
        or [key for key in fresh if key.startswith(f"{operator}:")]
        or fresh
    )


def _prompt_values(request: PlanRequest) -> dict[str, Any]:
    """Return the request as a model is sent it: tables as compact text; history is in `attempts`."""
    plain = (
        "goal",
        "cycle",
        "plans_wanted",
        "cycles_without_gain",
        "guidance",
        "findings",
        "rules",
        "knowledge",
        "conditions",
    )
    return {name: getattr(request, name) for name in plain} | stated(
        {
            "standings": standings_text(request.standings, request.champion),
            "contests": "\n".join(request.contests),
            "families": families_text(request.families),
            "attempts": request.attempts,
            "tried": diffs_text([item for item in request.tried if item.diff]),
            "sources": sources_text(request.sources),
            "code": code_text(first_excerpts(request.code, LONGEST_CODE)),
        }
    )


def plan_fault(request: PlanRequest, reply: PlanReply) -> str:
    """Return what is wrong with plans that fit their schema: a parent that is not offered, or one plan twice;
    "" if nothing is."""
    known = {item.variant_id for item in request.standings}
    choice = f"may be built on; there are {', '.join(sorted(known))}"
    faults, seen = [], set[tuple[str, str, str]]()
    for number, plan in enumerate(reply.plans, start=1):
        named = [name for name in (plan.parent_id, plan.second_parent_id) if name is not None]
        faults += [
            f"plan {number}: no variant {name!r} {choice}" for name in named if name[:SHORT_ID] not in known
        ]
        key = (plan.parent_id, plan.hypothesis.strip(), plan.instructions.strip())
        faults += [f"plan {number} is the same as an earlier one of this reply"] if key in seen else []
        seen.add(key)
    return "; ".join(faults)


PLANNER = Role("solvers_planner", PlanRequest, PlanReply, plan_cycle, values=_prompt_values, fault=plan_fault)
