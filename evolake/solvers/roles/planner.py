"""The planner's classical answer: a bandit over edits, mutations around what is best, and crossovers.

An arm is an edit of one base (`patch:restart-ema` on minisat22). Its worth is the mean gain of the variants that tried it, an upper confidence bound
on top (UCB1: Auer, Cesa-Bianchi and Fischer, 2002); a blocked variant counts as a clear loss, an arm nobody tried is worth a try before one that has
failed. Parents are drawn by rank. What people ask for through `evolake guide` comes first as far as a program can follow: arms whose name, or a
word of it, the text holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.agents.roles import Role, hide
from evolake.solvers.edits.crossover import cross_gives_new
from evolake.solvers.roles.coder import edits_of, forbidden
from evolake.solvers.roles.earlier import PLANNER_BEFORE, PLANNER_UNSHARED
from evolake.solvers.roles.models import Attempt, EditModel, Material, Plan, PlanKind, PlanReply, PlanRequest, Standing

BLOCKED_GAIN = -0.5
FRESH_GAIN = 0.15
EXPLORE = 0.35
PATCH_BONUS = 0.05
MATTERS = re.compile(
    r"decay|restart|rfirst|rinc|luby|reduce|^K$|^R$|^co$|chanseok|chrono|step|glue|tier|lbd|phase|stabil|score|target|learnt", re.IGNORECASE,
)
"""Options of mechanisms that decide most about a search: tried a little earlier than those of preprocessing and of memory."""
ODDS: dict[PlanKind, float] = {"patch": 0.4, "tunable": 0.2, "mutate": 0.2, "crossover": 0.2}
STUCK_AFTER = 3


@dataclass(frozen=True)
class Arm:
    """An edit of one base with what is known of it. `bound` is its upper confidence bound."""

    base: str
    key: str
    tries: int
    gain: float
    bound: float


def plan_cycle(request: PlanRequest, random: np.random.Generator) -> PlanReply:
    """One plan after the other: a parent, a kind of change that it allows, and the arm with the best bound that is not in use already."""
    materials = {item.variant_id: item for item in request.materials}
    parents = [item for item in request.standings if item.variant_id in materials]
    if not parents:
        raise ValueError("a plan needs a parent with material")
    parents = [item for item in parents if not _barren(materials[item.variant_id], request)] or parents
    parents = [item for item in parents if materials[item.variant_id].patches or materials[item.variant_id].options] or parents
    used: set[tuple[str, str]] = set()
    plans = [_plan(request, parents, materials, used, number, random) for number in range(request.plans_wanted)]
    tried = [attempt for attempt in request.history if attempt.gain is not None]
    best = max(tried, key=lambda attempt: attempt.gain or 0.0, default=None)
    said = f"Best change so far: {', '.join(best.changed)} on {best.base}, {best.gain:+.2f} of the ranks." if best and best.changed else ""
    blocked = sum(attempt.outcome == "blocked" for attempt in request.history)
    return PlanReply(assessment=f"{len(request.history)} variants tried, {blocked} blocked. {said}".strip(), plans=plans)


def arms(material: Material, history: Sequence[Attempt], forbidden: set[str]) -> list[Arm]:
    """Every arm of one base, best bound first."""
    tries: dict[str, list[float]] = {}
    for attempt in history:
        if attempt.base == material.base:
            for key in attempt.changed:
                gain = BLOCKED_GAIN if attempt.outcome == "blocked" else attempt.gain
                if gain is not None:
                    tries.setdefault(key, []).append(gain / max(1, len(attempt.changed)))
    total = 1 + sum(len(gains) for gains in tries.values())
    result = []
    for key in [*(f"patch:{name}" for name in material.patches), *(f"tunable:{name}" for name in material.options)]:
        if key in forbidden:
            continue
        gains = tries.get(key, [])
        mean = sum(gains) / len(gains) if gains else FRESH_GAIN
        bonus = EXPLORE * math.sqrt(math.log(total + 1) / (len(gains) + 1))
        if key.startswith("patch:") or MATTERS.search(key.partition(":")[2]):
            bonus += PATCH_BONUS
        result.append(Arm(material.base, key, len(gains), mean, mean + bonus))
    return sorted(result, key=lambda arm: (-arm.bound, arm.key))


def asked_for(guidance: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Keys whose name, or a word of it of at least four letters, a note of guidance holds; whole names first."""
    text = " ".join(guidance).lower()
    words = set(re.findall(r"[a-z0-9-]+", text))
    whole = [key for key in keys if key.partition(":")[2].lower() in words]
    part = [key for key in keys if key not in whole and any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in _words(key))]
    return whole + part


def _words(key: str) -> list[str]:
    return [word for word in key.partition(":")[2].lower().split("-") if len(word) >= 4]


def _plan(
    request: PlanRequest, parents: Sequence[Standing], materials: Mapping[str, Material], used: set[tuple[str, str]], number: int,
    random: np.random.Generator,
) -> Plan:
    parent = _parent(parents, number, random)
    material = materials[parent.variant_id]
    partners = [
        item for item in parents
        if item.variant_id != parent.variant_id and item.base == parent.base and _joins(material, materials[item.variant_id], used)
    ]
    asked = asked_for(request.guidance, [arm.key for arm in arms(material, [], set())])
    kind = _kind(material, bool(partners), bool(asked), request.cycles_without_gain, random)
    if kind == "crossover":
        partner = partners[_geometric(len(partners), random)]
        used.add(_pair(parent.variant_id, partner.variant_id))
        return Plan(
            parent_id=parent.variant_id, second_parent_id=partner.variant_id, kind=kind,
            hypothesis=f"The gains of {parent.title} and {partner.title} come from different parts of the solver and add up.",
            instructions="Join the edits of both; where they conflict keep those of the first.",
        )
    if kind == "mutate":
        edits = movable(material)
        chosen = edits[int(random.integers(len(edits)))]
        return Plan(
            parent_id=parent.variant_id, kind=kind, target=f"{chosen.kind}:{chosen.name}",
            hypothesis=f"{chosen.name} in {parent.title} may not be at its best value yet.",
            instructions=f"Move one value of {chosen.name} a little.",
        )
    arm = _arm(request, material, kind, used, asked, random)
    used.add((arm.base, arm.key))
    name = arm.key.partition(":")[2]
    known = f"tried {arm.tries} times on {arm.base} with a mean gain of {arm.gain:+.2f}" if arm.tries else f"not tried on {arm.base} yet"
    return Plan(
        parent_id=parent.variant_id, kind="patch" if arm.key.startswith("patch:") else "tunable", target=arm.key,
        hypothesis=f"{name}, {known}, may help {parent.title}.", instructions=f"Change {name}.",
    )


def movable(material: Material) -> list[EditModel]:
    """The edits whose values a mutation can move, of those that still decide something; a switch that was thrown could only be thrown back, which is
    the parent's parent again."""
    there = {*(f"patch:{name}" for name in material.patches), *(f"tunable:{name}" for name in material.options)}
    return [
        edit for edit in material.edits or []
        if f"{edit.kind}:{edit.name}" in there and any(value not in (False, True) for value in edit.parameters.values())
    ]


def _barren(material: Material, request: PlanRequest) -> bool:
    """Whether a learned rule blocks what the variant carries, and so whatever is built on it."""
    return forbidden(edits_of(material.edits or []), request.forbidden, material.base)


def _joins(first: Material, second: Material, used: set[tuple[str, str]]) -> bool:
    """Whether a crossover of the two can give something new. By files, which two give one child only, it is done once."""
    if first.edits is None or second.edits is None:
        done = second.variant_id in first.joined or _pair(first.variant_id, second.variant_id) in used
        return not done and cross_gives_new(first.changed, second.changed)
    return bool(second.edits) and [edit.model_dump() for edit in first.edits] != [edit.model_dump() for edit in second.edits]


def _pair(first: str, other: str) -> tuple[str, str]:
    return min(first, other), max(first, other)


def _parent(parents: Sequence[Standing], number: int, random: np.random.Generator) -> Standing:
    """The first plan builds on the best rank, later ones on a draw in which each further place is 0.7 times as likely."""
    ranked = sorted(parents, key=lambda item: (item.rank if item.rank is not None else len(parents) + 1, item.variant_id))
    return ranked[0] if number == 0 else parents[_geometric(len(parents), random)]


def _geometric(count: int, random: np.random.Generator) -> int:
    odds = 0.7 ** np.arange(count)
    return int(random.choice(count, p=odds / odds.sum()))


def _kind(material: Material, partners: bool, asked: bool, standstill: int, random: np.random.Generator) -> PlanKind:
    possible = {
        "patch": bool(material.patches), "tunable": bool(material.options), "mutate": bool(movable(material)), "crossover": partners and not asked,
    }
    odds: dict[PlanKind, float] = {kind: weight for kind, weight in ODDS.items() if possible[kind]}
    if standstill >= STUCK_AFTER and "patch" in odds:
        odds["patch"] *= 2
    if not odds:
        raise ValueError(f"nothing in {material.variant_id} can be edited by operators: no option and no patch is known for {material.base}")
    kinds = list(odds)
    weights = np.array([odds[kind] for kind in kinds])
    return kinds[int(random.choice(len(kinds), p=weights / weights.sum()))]


def _arm(
    request: PlanRequest, material: Material, kind: PlanKind, used: set[tuple[str, str]], asked: Sequence[str], random: np.random.Generator
) -> Arm:
    """The arm of this kind with the best bound after a little noise, so that equal arms take turns; asked-for ones before all others."""
    banned = {
        f"{group}:{rule.edit}" for rule in request.forbidden for group in ("patch", "tunable")
        if not rule.parameters and rule.base in ("", material.base)
    }
    carried = {f"{edit.kind}:{edit.name}" for edit in material.edits or []}
    known = arms(material, request.history, banned) or arms(material, request.history, set())
    fresh = [arm for arm in known if (arm.base, arm.key) not in used and arm.key not in carried] or known
    wanted = [arm for arm in fresh if arm.key in asked] or [arm for arm in fresh if arm.key.startswith(f"{kind}:")] or fresh
    noise = random.gumbel(0.0, 0.05, size=len(wanted))
    return max(zip(wanted, noise, strict=True), key=lambda pair: pair[0].bound + pair[1])[0]


PLANNER = Role(
    "solvers_planner", PlanRequest, PlanReply, plan_cycle, values=hide("materials", "forbidden"), earlier=(PLANNER_UNSHARED, PLANNER_BEFORE),
)
