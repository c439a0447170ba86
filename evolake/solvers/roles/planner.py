"""The planner's classical answer: moves drawn by a bandit, around what is best.

A move is an operator (a patch, an option, another value of an edit that is there, a crossover, a combination)
and what it changes. `bandit` draws both by what earlier moves saved on each family of formulas, weighted by
where the parent spends its time. A hypothesis states the reason that the parent's counters give (`reasons`).
Parents are drawn by rank. What people ask for through `evolake guide` comes first as far as a program can
follow: edits whose name, or a word of it, the text holds.

A combination joins two variants of which each helps alone and whose edits touch no option, slot or line in
common. A crossover joins any two, and drops what conflicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.solvers.edits.crossover import cross_gives_new
from evolake.solvers.edits.subjects import subject_of
from evolake.solvers.roles.bandit import MoveResult, draw_arm, draw_operator, tries_on
from evolake.solvers.roles.coder import COMBINE, edits_of, forbidden
from evolake.solvers.roles.models import SHORT_ID, EditModel, Material, Plan, PlanReply, PlanRequest, Standing
from evolake.solvers.roles.prompt_tables import (
    code_text,
    diffs_text,
    families_text,
    first_excerpts,
    sources_text,
    standings_text,
    stated,
)
from evolake.solvers.roles.reasons import Observed, observe, reason_for, saved_in_words

STUCK_AFTER = 3
LONGEST_CODE = 4_500
"""Characters of code in a planner's prompt: it names functions, and a coder reads them."""


def plan_cycle(request: PlanRequest, random: np.random.Generator) -> PlanReply:
    """Return one plan after the other: a parent, a kind of change that it allows, and the arm with the best
    bound that is not in use already."""
    materials = {item.variant_id: item for item in request.materials}
    parents = [item for item in request.standings if item.variant_id in materials]
    if not parents:
        raise ValueError("a plan needs a parent with material")
    parents = [item for item in parents if not _barren(materials[item.variant_id], request)] or parents
    parents = [
        item for item in parents if materials[item.variant_id].patches or materials[item.variant_id].options
    ] or parents
    used: set[tuple[str, str]] = set()
    plans = [
        _plan(request, parents, materials, used, number, random) for number in range(request.plans_wanted)
    ]
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
    """Return keys whose name, or a word of it of at least four letters, a note of guidance holds; whole names
    first."""
    text = " ".join(guidance).lower()
    words = set(re.findall(r"[a-z0-9-]+", text))
    whole = [key for key in keys if key.partition(":")[2].lower() in words]
    part = [
        key
        for key in keys
        if key not in whole and any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in _words(key))
    ]
    return whole + part


def _words(key: str) -> list[str]:
    return [word for word in key.partition(":")[2].lower().split("-") if len(word) >= 4]


def _plan(
    request: PlanRequest,
    parents: Sequence[Standing],
    materials: Mapping[str, Material],
    used: set[tuple[str, str]],
    number: int,
    random: np.random.Generator,
) -> Plan:
    parent = _parent(parents, number, random)
    material = materials[parent.variant_id]
    rivals = [item for item in parents if item.variant_id != parent.variant_id and item.base == parent.base]
    partners = {
        "crossover": [item for item in rivals if _joins(material, materials[item.variant_id], used)],
        COMBINE: [item for item in rivals if _combines(material, item.variant_id, used)],
    }
    asked = asked_for(request.guidance, list(_keys(material)))
    tried = tries_on(material.base, material.costs, request.credits)
    operator = _operator(
        material,
        {name: bool(found) and not asked for name, found in partners.items()},
        request,
        tried,
        random,
    )
    if operator in partners:
        partner = partners[operator][_geometric(len(partners[operator]), random)]
        used.add(_pair(parent.variant_id, partner.variant_id))
        return _joining(operator, parent, partner, request)
    seed = next(
        (
            item
            for item in materials.values()
            if item.base == material.base and item.edits == [] and item is not material
        ),
        None,
    )
    observed, texts = (
        observe(material.counters, seed.counters if seed else [], random),
        request.option_texts.get(material.base, {}),
    )
    if operator == "mutate":
        edits = movable(material)
        chosen = edits[int(random.integers(len(edits)))]
        key = f"{chosen.kind}:{chosen.name}"
        return Plan(
            parent_id=parent.variant_id,
            kind=operator,
            target=key,
            hypothesis=(
                f"{chosen.name} in {parent.title} may not be at its best value yet. "
                f"{reason_for(key, observed, texts)}"
            ).strip(),
            instructions=f"Move one value of {chosen.name} a little.",
        )
    key = _key(request, material, operator, used, asked, tried, observed, random)
    used.add((material.base, key))
    name, worths = key.partition(":")[2], [item.worth for item in tried if key in item.changed]
    known = f"not tried on {material.base} yet"
    if worths:
        known = (
            f"tried {len(worths)} times on {material.base} with a mean saving of "
            f"{sum(worths) / len(worths):+.2f} of the PAR-2"
        )
    return Plan(
        parent_id=parent.variant_id,
        kind="patch" if key.startswith("patch:") else "tunable",
        target=key,
        hypothesis=f"{name}, {known}, may help {parent.title}. {reason_for(key, observed, texts)}".strip(),
        instructions=f"Change {name}.",
    )


def _joining(operator: str, parent: Standing, partner: Standing, request: PlanRequest) -> Plan:
    """Return the plan of a crossover or of a combination."""
    if operator == COMBINE:
        saved = [(item.title, saved_in_words(item.variant_id, request.credits)) for item in (parent, partner)]
        known = " ".join(f"{title} saved {words} of its parent's PAR-2." for title, words in saved if words)
        return Plan(
            parent_id=parent.variant_id,
            second_parent_id=partner.variant_id,
            kind="crossover",
            target=COMBINE,
            hypothesis=(
                f"{parent.title} and {partner.title} each help alone and touch different places: together "
                f"they may help more. {known}"
            ).strip(),
            instructions="Join the edits of both; if they conflict, make nothing.",
        )
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


def _combines(material: Material, other: str, used: set[tuple[str, str]]) -> bool:
    """Return whether a variant is to be combined with the other one: once."""
    return (
        other in material.combines
        and other not in material.joined
        and _pair(material.variant_id, other) not in used
    )


def _pair(first: str, other: str) -> tuple[str, str]:
    return min(first, other), max(first, other)


def _parent(parents: Sequence[Standing], number: int, random: np.random.Generator) -> Standing:
    """Draw the parent: the first plan builds on the best rank, later ones on a draw in which each further
    place is 0.7 times as likely."""
    ranked = sorted(
        parents, key=lambda item: (item.rank if item.rank is not None else len(parents) + 1, item.variant_id)
    )
    return ranked[0] if number == 0 else parents[_geometric(len(parents), random)]


def _geometric(count: int, random: np.random.Generator) -> int:
    odds = 0.7 ** np.arange(count)
    return int(random.choice(count, p=odds / odds.sum()))


def _operator(
    material: Material,
    joining: Mapping[str, bool],
    request: PlanRequest,
    tried: Sequence[MoveResult],
    random: np.random.Generator,
) -> str:
    """Return the operator that the bandit draws among those that are possible; after cycles without a gain,
    every other time a patch."""
    changing = {
        "patch": bool(material.patches),
        "tunable": bool(material.options),
        "mutate": bool(movable(material)),
    }
    possible = [name for name, there in {**changing, **joining}.items() if there]
    if not possible:
        raise ValueError(
            f"nothing in {material.variant_id} can be edited by operators: no option and no patch is "
            f"known for {material.base}"
        )
    if request.cycles_without_gain >= STUCK_AFTER and "patch" in possible and random.random() < 0.5:
        return "patch"
    return draw_operator(possible, tried, random)


def _key(
    request: PlanRequest,
    material: Material,
    operator: str,
    used: set[tuple[str, str]],
    asked: Sequence[str],
    tried: Sequence[MoveResult],
    observed: Observed | None,
    random: np.random.Generator,
) -> str:
    """Return the key of the edit that the bandit draws among those of the operator; asked-for ones come
    before all others."""
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
    wanted = (
        [key for key in fresh if key in asked]
        or [key for key in fresh if key.startswith(f"{operator}:")]
        or fresh
    )
    texts = request.option_texts.get(material.base, {})
    strengths = {key: observed.strength(subject_of(key, texts)) for key in wanted} if observed else {}
    return draw_arm(wanted, tried, material.touched, random, strengths)


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
