"""The planner's turn in a cycle: from standings, history, rules and guidance to plans, each naming a parent,
a hypothesis and a kind of edit.

What roles may see is decided here, once: `visible_standing` builds every line about a variant. It takes PAR-2
out before the cycle `par2_hidden_until` (SATLUTION hides it so long, that agents look at solved counts first)
and refuses a row of `holdout_suite`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.errors import InputError
from evolake.seeds import CycleSeeds
from evolake.solvers.edits import Edit
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.apply import changed_files
from evolake.solvers.edits.draw import EditableTree, applicable, editable_tree
from evolake.solvers.roles.coder import models_of
from evolake.solvers.roles.models import (
    SHORT_ID,
    Attempt,
    Excerpt,
    FamilyResult,
    Material,
    Plan,
    PlanRequest,
    SourceTree,
    Standing,
    Tried,
)
from evolake.solvers.roles.planner import PLANNER
from evolake.solvers.roles.shown import ShownRules
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import CUT_OFF_SHARES

LINE = "solvers"
COUNTED = (
    "instances_sat",
    "instances_unsat",
    "vbs_match",
    "vbs_mismatch",
    "unproved",
    "failed",
    "additionally_solved",
)
MAX_STANDINGS = 40
MAX_HISTORY = 200
MAX_FINDINGS = 30


@dataclass(frozen=True)
class Base:
    """A seed that variants descend from: its variant folder, and its adapter."""

    name: str
    folder: Path
    adapter: Any


@dataclass(frozen=True)
class KnownVariant:
    """A variant that may be built on.

    folder: its repository, unpacked. edits: what operators changed in the base (() for a seed); None for one
    that was written as a diff. changed: its changelog in a line.
    """

    variant_id: str
    base: str
    title: str
    operator: str
    folder: Path
    edits: tuple[Edit, ...] | None
    changed: str = ""


@dataclass(frozen=True)
class ParentPool:
    """The variants of a cycle that may be built on. bases: the seeds, by name. standings: what roles may see
    of each variant, best first."""

    variants: Sequence[KnownVariant]
    bases: Mapping[str, Base]
    standings: Sequence[Standing]

    def standing_of(self, variant_id: str) -> Standing:
        """Return the line about a variant, by its whole id."""
        return next(item for item in self.standings if item.variant_id == variant_id[:SHORT_ID])


@dataclass(frozen=True)
class PlannerFacts:
    """What a planner that reads is shown next to standings and history; see the fields of PlanRequest."""

    knowledge: list[str] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    families: list[FamilyResult] = field(default_factory=list)
    sources: list[SourceTree] = field(default_factory=list)
    code: list[Excerpt] = field(default_factory=list)
    champion: str = ""
    contests: list[str] = field(default_factory=list)
    attempts: str = ""
    conditions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SearchRecord:
    """What earlier cycles came to, for a planner.

    history: attempts, oldest first. joined: parents, by whole id, of each crossover by files that was tried.
    facts: for a planner that reads.
    """

    history: Sequence[Attempt] = ()
    findings: Sequence[str] = ()
    cycles_without_gain: int = 0
    joined: Collection[Sequence[str]] = ()
    facts: PlannerFacts | None = None


@dataclass(frozen=True)
class Planned:
    """Rows of PLANS, or why there are none."""

    rows: list[dict[str, Any]]
    failure: AgentFailure | None = None


def plan_variants(
    agents: Agents,
    pool: ParentPool,
    record: SearchRecord,
    rules: ShownRules,
    *,
    settings: SolversSettings,
    seeds: CycleSeeds,
    guidance: Sequence[str] = (),
) -> Planned:
    """Return the plans of one cycle, `settings.variants_per_cycle` at most; none without a variant to build
    on."""
    lines, cycle = pool.standings[:MAX_STANDINGS], seeds.cycle
    if not lines:
        return Planned([])
    short = {item.variant_id[:SHORT_ID]: item for item in pool.variants}
    request = PlanRequest(
        cycle=cycle,
        plans_wanted=settings.variants_per_cycle,
        standings=list(lines),
        history=list(record.history)[-MAX_HISTORY:],
        findings=list(record.findings)[-MAX_FINDINGS:],
        rules=list(rules.names or rules.texts),
        guidance=list(guidance),
        cycles_without_gain=record.cycles_without_gain,
        materials=_materials(lines, short, pool.bases, record) if agents.backend.name == "operators" else [],
        forbidden=list(rules.forbidden),
        **(vars(record.facts) if record.facts else {}),
    )
    reply = agents.call(PLANNER, request, seed=seeds.seed("plan")).value
    if isinstance(reply, AgentFailure):
        return Planned([], reply)
    best = min(lines, key=lambda item: (item.rank is None, item.rank or 0, item.variant_id))
    rows = []
    for number, plan in enumerate(reply.plans[: settings.variants_per_cycle]):
        parents = parents_of(plan, short, one_base=agents.backend.name == "operators") or [
            short[best.variant_id].variant_id
        ]
        kind = plan.kind if plan.kind != "crossover" or len(parents) == 2 else "rewrite"
        rows.append(
            {
                "plan_id": plan_id(cycle, number, plan),
                "cycle": cycle,
                "number": number,
                "parent_ids": parents,
                "kind": kind,
                "target": plan.target,
                "hypothesis": plan.hypothesis,
                "instructions": plan.instructions,
                "assessment": reply.assessment,
                "origin": agents.backend.name,
                "guidance": list(guidance),
            }
        )
    return Planned(rows)


def parent_pool(
    known: Sequence[KnownVariant],
    bases: Mapping[str, Base],
    *,
    ranking: Sequence[Mapping[str, Any]],
    metrics: Sequence[Mapping[str, Any]],
    settings: SolversSettings,
    cycle: str,
) -> ParentPool:
    """Return what may be built on.

    Args:
        ranking: rows of RANKING. metrics: rows of METRICS, of the suite that variants are ranked on; both may
            lack a variant.

    Raises:
        InputError: a row of `holdout_suite` is among `metrics`.
    """
    return ParentPool(
        known, bases, standings(known, ranking=ranking, metrics=metrics, settings=settings, cycle=cycle)
    )


def standings(
    known: Sequence[KnownVariant],
    *,
    ranking: Sequence[Mapping[str, Any]],
    metrics: Sequence[Mapping[str, Any]],
    settings: SolversSettings,
    cycle: str,
) -> list[Standing]:
    """Return one line per variant, highest upper confidence bound first; a variant without a rank comes after
    those with one."""
    refuse_holdout(metrics, settings)
    ranks = {row["variant_id"]: row for row in ranking}
    measured = {row["variant_id"]: row for row in metrics}
    lines = [
        visible_standing(
            item, ranks.get(item.variant_id), measured.get(item.variant_id), settings=settings, cycle=cycle
        )
        for item in known
    ]
    return sorted(lines, key=lambda item: (item.rank is None, -item.ucb, item.variant_id))


def visible_standing(
    variant: KnownVariant,
    rank: Mapping[str, Any] | None,
    measured: Mapping[str, Any] | None,
    *,
    settings: SolversSettings,
    cycle: str,
) -> Standing:
    """Return what any role may see of a variant.

    Raises:
        InputError: `measured` is of `holdout_suite`.
    """
    rank, measured = rank or {}, measured or {}
    refuse_holdout([measured], settings)
    counted: dict[str, Any] = {name: measured.get(name) or 0 for name in COUNTED}
    hidden: dict[str, Any] = {
        name: measured.get(name) if par2_visible(settings, cycle) else None
        for name in ("par2", "par2_sat", "par2_unsat")
    }
    within = {f"{share}%": measured.get(f"solved_within_{share}") for share in CUT_OFF_SHARES}
    return Standing(
        variant_id=variant.variant_id[:SHORT_ID],
        title=variant.title,
        base=variant.base,
        operator=variant.operator,
        rank=rank.get("rank"),
        consensus=rank.get("consensus"),
        ucb=rank.get("ucb") or 0.0,
        visits=rank.get("visits") or 0.0,
        instances=measured.get("instances") or 0,
        solved=measured.get("solved") or 0.0,
        solved_sat=measured.get("solved_sat") or 0.0,
        solved_unsat=measured.get("solved_unsat") or 0.0,
        solved_within={share: float(count) for share, count in within.items() if count is not None},
        best_of_all=measured.get("fastest") or 0,
        wrong=measured.get("wrong") or 0,
        memory_mb=measured.get("memory_mean_mb"),
        memory_max_mb=measured.get("memory_max_mb"),
        checked_share=measured.get("checked_share"),
        **counted,
        **hidden,
        edits=[edit.described() for edit in variant.edits or ()],
        changed=variant.changed[:600],
    )


def par2_visible(settings: SolversSettings, cycle: str) -> bool:
    """Return whether roles see PAR-2 in this cycle."""
    return int(cycle) >= settings.par2_hidden_until


def refuse_holdout(rows: Sequence[Mapping[str, Any]], settings: SolversSettings) -> None:
    """Holdout results decide nothing and are shown to no role.

    Raises:
        InputError: the suite of one of the rows is `settings.holdout_suite`, as in a lake that was bred on it
            before.
    """
    if met := settings.held_out & {str(row.get("suite")) for row in rows}:
        raise InputError(
            f"a result on the holdout, the suite {min(met)}, must not reach a role",
            wanted="a holdout that nothing in this lake was bred on",
            got=f"holdout_suite {settings.holdout_suite!r}, and results of variants on it",
            do="name another suite in EVOLAKE_SOLVERS__HOLDOUT_SUITE, or begin a new lake",
        )


def parents_of(plan: Plan, short: Mapping[str, KnownVariant], *, one_base: bool = False) -> list[str]:
    """Return whole ids of a plan's parents that exist, the one to build on first. one_base: a second one of
    another base is left out."""
    first = short.get(plan.parent_id[:SHORT_ID])
    if first is None:
        return []
    second = short.get(plan.second_parent_id[:SHORT_ID]) if plan.second_parent_id else None
    usable = (
        second is not None
        and (second.base == first.base or not one_base)
        and second.variant_id != first.variant_id
    )
    return [first.variant_id, *([second.variant_id] if usable and second else [])]


def plan_id(cycle: str, number: int, plan: Plan) -> str:
    """Return hash of what was planned, where."""
    text = json.dumps([cycle, number, plan.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _materials(
    lines: Sequence[Standing],
    short: Mapping[str, KnownVariant],
    bases: Mapping[str, Base],
    record: SearchRecord,
) -> list[Material]:
    """Return what operators can do to each variant: to its base next to the edits it has or, where it was
    written as a diff, to its own sources."""
    variants = [short[item.variant_id] for item in lines if item.base in bases]
    written = {item.base for item in variants if item.edits is None}
    trees: dict[Path, EditableTree] = {}
    result = []
    for item in variants:
        base = bases[item.base]
        folder = item.folder if item.edits is None else base.folder
        trees[folder] = trees.get(folder) or editable_tree(source_files(folder), base.adapter)
        there = applicable(trees[folder], item.edits or ())
        result.append(
            Material(
                variant_id=item.variant_id[:SHORT_ID],
                base=item.base,
                edits=None if item.edits is None else models_of(item.edits),
                options=[option.name for option in there.options],
                patches=list(there.patches),
                changed=changed_files(base.folder, item.folder, base.adapter.editable)
                if item.base in written
                else {},
                joined=sorted(
                    {
                        other[:SHORT_ID]
                        for pair in record.joined
                        if item.variant_id in pair
                        for other in pair
                        if other != item.variant_id
                    }
                ),
            )
        )
    return result
