"""The planner's turn in a cycle: from the ranked archive to directions with references (paper, sections 2 and
S5.1).

Two calls: the planner first sees one line per design, ranked by upper confidence bound, and names those it
wants to look up; then it sees their source, results and lessons, and gives directions. Ids are shortened on
the way out and mapped back on the way in; an id that no design has is dropped. A planner that gives no usable
reply is a value (`PlannedDirections.failure`): the cycle then has no directions, and no other backend steps
in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.attempts import attempts_table
from evolake.designs.evolution.attempts import against_parent, contest_outcomes, scaling_text, tried_designs
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.line_state import standings
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.schedule import (
    FIDELITIES,
    HIGH_SHARE,
    is_cut,
    latest_levels,
    limits_of,
    size_of,
    sizes,
)
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.model.instances import KINDS
from evolake.designs.roles.models import (
    SHORT_ID,
    DesignDetail,
    DesignSummary,
    DirectionsRequest,
    LevelResult,
    LookupReply,
    LookupRequest,
)
from evolake.designs.roles.planner import DIRECTIONS_ROLE, LOOKUP_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.designs.work.rows import kind_of, max_work, median_work, per_step
from evolake.gates import read_reason
from evolake.seeds import child_seed

MAX_SUMMARIES = 60
MAX_LOOKUPS = 8
MAX_REFERENCES = 3
RECENT = 8
TRIED_BY_PLANNER, TRIED_BY_DESIGNER = 30, 12
"""Lines of the table of what was tried."""


@dataclass(frozen=True)
class PlannedDirections:
    """Rows of DIRECTIONS, or why there are none."""

    rows: list[dict[str, Any]]
    failure: AgentFailure | None = None


def plan_directions(
    agents: Agents,
    population: Population,
    texts: Texts,
    *,
    settings: DesignsSettings,
    cycle: str,
    root_seed: int,
    guidance: Sequence[str] = (),
) -> PlannedDirections:
    """Return the directions of one cycle. `texts` reads a blob as text by its sha; `guidance` is what people
    stored with `evolake guide`.
    """
    wanted = min(settings.directions_per_cycle, settings.designs_per_cycle)
    lines = summaries(population)
    if not lines:
        return PlannedDirections([])
    best = min(lines, key=lambda item: item.rank)
    known = short_ids(population)
    outcomes = contest_outcomes(population)
    lookup = _looked_up(
        agents, population, lines, wanted, guidance, outcomes, child_seed(root_seed, LINE, cycle, "lookup")
    )
    if isinstance(lookup, AgentFailure):
        return PlannedDirections([], lookup)
    looked_up = resolved(lookup.lookup_experiment_ids, known)[:MAX_LOOKUPS] or [
        known[item.design_id] for item in lines[:MAX_LOOKUPS]
    ]
    reply = agents.call(
        DIRECTIONS_ROLE,
        DirectionsRequest(
            directions_wanted=wanted,
            max_references=MAX_REFERENCES,
            context_rationale=lookup.context_rationale,
            summaries=lines[:MAX_SUMMARIES],
            details=[detail(population, design_id, texts, settings) for design_id in looked_up],
            cycles_without_gain=int(population.value("cycles_without_gain", 0)),
            guidance=list(guidance),
            outcomes=[*outcomes, *population.value("tunings", [])],
            schedule=schedule_text(settings),
            tried=tried_text(agents, population, " ".join(guidance), TRIED_BY_PLANNER),
        ),
        seed=child_seed(root_seed, LINE, cycle, "directions"),
    ).value
    if isinstance(reply, AgentFailure):
        return PlannedDirections([], reply)
    rows = []
    for number in range(min(wanted, len(reply.research_directions))):
        references = resolved(reply.reference_design_ids[number], known)[:MAX_REFERENCES] or [
            known[best.design_id]
        ]
        text = reply.research_directions[number]
        rows.append(
            {
                "direction_id": hashlib.sha256(f"{cycle}\x1f{number}\x1f{text}".encode()).hexdigest(),
                "cycle": cycle,
                "number": number,
                "phase": reply.current_phase,
                "direction": text,
                "rationale": reply.strategy_rationales[number],
                "focus": reply.focus_areas[number],
                "avoid": reply.avoid_areas[number],
                "reference_ids": references,
                "looked_up": looked_up,
                "key_insights": reply.key_insights,
                "success_patterns": reply.success_patterns,
                "failure_patterns": reply.failure_patterns,
                "guidance": list(guidance),
            }
        )
    return PlannedDirections(rows)


def tried_text(agents: Agents, population: Population, about: str, most: int) -> str:
    """Return the table of what was tried in all cycles; "" for operators, who do not read it."""
    return (
        ""
        if agents.backend.name == "operators"
        else attempts_table(tried_designs(population), about=about, most=most)
    )


def _looked_up(
    agents: Agents,
    population: Population,
    lines: Sequence[DesignSummary],
    wanted: int,
    guidance: Sequence[str],
    outcomes: Sequence[str],
    seed: int,
) -> LookupReply | AgentFailure:
    """Return which designs the planner wants to read. Where all of them fit, a model is not asked."""
    if len(lines) <= MAX_LOOKUPS and agents.backend.name != "operators":
        return LookupReply(
            lookup_experiment_ids=[item.design_id for item in lines],
            context_rationale="All designs that there are.",
        )
    request = LookupRequest(
        directions_wanted=wanted,
        max_lookups=MAX_LOOKUPS,
        total_designs=population.designs.height,
        best=min(lines, key=lambda item: item.rank),
        recent=_recent(population, lines),
        summaries=list(lines[:MAX_SUMMARIES]),
        guidance=list(guidance),
        outcomes=list(outcomes),
    )
    return agents.call(LOOKUP_ROLE, request, seed=seed).value


def summaries(population: Population) -> list[DesignSummary]:
    """Return one line for each live design, highest upper confidence bound first."""
    result = []
    for standing in standings(population):
        row = population.row(standing["design_id"])
        result.append(
            DesignSummary(
                design_id=row["design_id"][:SHORT_ID],
                title=row["title"],
                operator=row["operator"] or row["origin"],
                rank=standing["rank"],
                consensus=standing["consensus"],
                ucb=standing["ucb"],
                visits=standing["visits"],
                largest_solved=standing["largest_solved"],
                median_step=standing["median_step"],
                median_work=_rounded(standing["median_work"]),
                fidelity=standing["fidelity"],
                tuned=bool(row["tuned"]),
                terms=terms_of(row),
                against_parent=against_parent(population, row["design_id"]),
            )
        )
    return sorted(result, key=lambda item: (-item.ucb, item.design_id))


def detail(population: Population, design_id: str, texts: Texts, settings: DesignsSettings) -> DesignDetail:
    """Return a design as a reference."""
    row = population.row(design_id)
    experiments = population.experiment_rows([design_id])
    return DesignDetail(
        design_id=design_id[:SHORT_ID],
        title=row["title"],
        rationale=row["rationale"] or "",
        source=texts(row["source_sha"]),
        results=level_results(experiments),
        key_insight=row["key_insight"] or "",
        success_level=row["success_level"] or "",
        terms=terms_of(row),
        against_parent=against_parent(population, design_id),
        scaling=scaling_text(design_id, experiments, sizes(settings, "high")[-1]),
    )


def level_results(rows: Sequence[Mapping[str, Any]]) -> list[LevelResult]:
    """Return experiments as roles see them: one a size of each kind, ascending; what a clock cut says so."""
    levels = [row for kind in KINDS for row in latest_levels(rows, kind)]
    cut = [row for row in rows if is_cut(row)]
    return [
        LevelResult(
            N=row["N"],
            max_work=round(max_work(row)),
            median_step=row["median_step"],
            work_per_step=round(per_step(row), 3),
            median_work=round(median_work(row), 1),
            unsolved_fraction=row["unsolved_fraction"],
            fidelity=row["fidelity"],
            kind=kind_of(row),
            steps_run=row["steps_run"],
            timed_out=bool(row["timed_out"]),
            diverged=row.get("diverged") or 0,
            failure=_failure_text(row.get("failure")),
        )
        for row in [*levels, *cut]
    ]


def _failure_text(failure: str | None) -> str:
    return f"{read_reason(failure) or failure}"[:300] if failure else ""


def _rounded(work: float | None) -> float | None:
    return None if work is None else round(work, 1)


def terms_of(row: Mapping[str, Any]) -> list[str]:
    """Return terms of a design's genome; none for a file."""
    return list(read_genome(row["genome"]).term_names()) if row["genome"] else []


def short_ids(population: Population) -> dict[str, str]:
    """Return short id -> id of every live design."""
    return {design_id[:SHORT_ID]: design_id for design_id in population.live_ids()}


def resolved(ids: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Return whole ids of short (or whole) ones, without repeats and without the unknown."""
    return list(dict.fromkeys(known[short[:SHORT_ID]] for short in ids if short[:SHORT_ID] in known))


def schedule_text(settings: DesignsSettings) -> str:
    """Return the schedule in words, for roles."""
    parts = []
    for fidelity in FIDELITIES:
        limits = limits_of(settings, fidelity)
        parts.append(
            f"{fidelity} to N={limits.max_n}, a work of {limits.max_steps} a size, {limits.core_s:g} "
            "counted s of a core in all"
        )
    first = ", ".join(str(size_of(settings, k)) for k in range(3))
    by = (
        "consensus"
        if settings.promotion == "consensus"
        else "the work that their scaling lets expect at its largest size"
    )
    share = settings.uniform.share
    uniform = (
        f"; {share:.0%} of the low ones are uniform random formulas, and the worse kind ranks"
        if share
        else ""
    )
    return (
        f"Planted 3-SAT, {settings.ratio:g} clauses a variable, {settings.batch} instances a size, "
        f"N={first}, ...{uniform}. A level runs until more than half of its instances were solved; its "
        f"budget doubles from a work of {settings.steps_start}; a failed level ends the schedule. Limits: "
        f"{'; '.join(parts)}. The best {settings.medium_share:.0%} by {by} get medium, the best "
        f"{HIGH_SHARE:.0%} high."
    )


def limits_text(settings: DesignsSettings) -> str:
    """Return the sizes and the work that is allowed, for a designer."""
    shares = {
        "low": "all designs",
        "medium": f"the best {settings.medium_share:.0%}",
        "high": f"the best {HIGH_SHARE:.0%}",
    }
    parts = [
        f"{shares[fidelity]} to N={limits.max_n} with a work of {limits.max_steps}"
        for fidelity in FIDELITIES
        for limits in [limits_of(settings, fidelity)]
    ]
    uniform = (
        f" {settings.uniform.share:.0%} of the instances are uniform random formulas."
        if settings.uniform.share
        else ""
    )
    return (
        f"Planted 3-SAT, {settings.ratio:g} clauses a variable, from N={size_of(settings, 0)} up until a "
        f"size fails, that is half of its {settings.batch} instances stay unsolved: {', '.join(parts)} at "
        f"most for a size.{uniform}"
    )


def _recent(population: Population, lines: Sequence[DesignSummary]) -> list[DesignSummary]:
    by_id = {item.design_id: item for item in lines}
    latest = [design_id[:SHORT_ID] for design_id in reversed(population.live_ids())]
    return [by_id[design_id] for design_id in latest[:RECENT] if design_id in by_id]
