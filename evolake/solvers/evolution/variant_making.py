"""The planner's and the coder's turn: plans on the variants that live, and variants archived with the
evidence of their gates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from evolake.agents import Agents
from evolake.gates import Ruleset
from evolake.seeds import CycleSeeds
from evolake.solvers.edits import write_edits
from evolake.solvers.evolution.authors import CoderFacts, Commission, is_submitted
from evolake.solvers.evolution.coder_turn import TRIAL, CoderTurn, Trial, TrialPlace, trial_of, word_of
from evolake.solvers.evolution.drafts import ExistingVariants, Proposal
from evolake.solvers.evolution.planning import ParentPool, Planned, SearchRecord, parent_pool, plan_variants
from evolake.solvers.evolution.planning_facts import family_results, measuring_conditions, planner_facts
from evolake.solvers.evolution.population import CONTESTS, LIVE, Population, contest_texts
from evolake.solvers.evolution.proposing import propose_variants
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.judging import VariantResults
from evolake.solvers.repository.variant import archive_variant, source_sha
from evolake.solvers.roles.models import SHORT_ID, FamilyResult
from evolake.solvers.roles.shown import shown_rules


@dataclass(frozen=True)
class MadeVariants:
    """What the coder's turn gave: rows of VARIANTS, DERIVATIONS and FAILED_PROPOSALS, rows of RUNS by gate,
    and how many calls failed."""

    runs: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    derivations: list[dict[str, Any]]
    failed_proposals: list[dict[str, Any]]
    failures: int


def plan_cycle(
    agents: Agents,
    population: Population,
    workspace: Workspace,
    ruleset: Ruleset,
    *,
    seeds: CycleSeeds,
    guidance: Sequence[str] = (),
    known: Sequence[str] = (),
) -> Planned:
    """Return plans on the variants that live. known: facts of this lake for a planner that reads."""
    pool = _parent_pool(population, population.rows("accepted", "champion"), workspace, seeds.cycle)
    facts = None
    if agents.backend.name != "operators":
        facts = planner_facts(
            population,
            pool,
            ruleset,
            workspace.blobs,
            workspace.folder,
            settings=workspace.settings,
            cycle=seeds.cycle,
            guidance=guidance,
        )
        facts = replace(facts, knowledge=[*facts.knowledge, *known])
    record = SearchRecord(
        population.attempts(),
        [f"{row['title']}: {row['explanation']}" for row in population.findings.to_dicts()],
        population.value("cycles_without_gain", 0),
        joined_before(population),
        facts,
    )
    return plan_variants(
        agents,
        pool,
        record,
        shown_rules(ruleset),
        settings=workspace.settings,
        seeds=seeds,
        guidance=guidance,
    )


def _parent_pool(
    population: Population, rows: Sequence[Mapping[str, Any]], workspace: Workspace, cycle: str
) -> ParentPool:
    return parent_pool(
        [workspace.known(row) for row in rows],
        workspace.bases(),
        ranking=population.ranking.to_dicts(),
        metrics=entering_metrics(population),
        settings=workspace.settings,
        cycle=cycle,
    )


def joined_before(population: Population) -> list[list[str]]:
    """Return the parents of each crossover by files that operators made: such a pair has no other child to
    give."""
    return [
        row["parents"]
        for row in population.rows()
        if row["origin"] == "operators"
        and row["operator"] == "crossover"
        and row["edits"] is None
        and len(row["parents"] or ()) == 2
    ]


def entering_metrics(population: Population) -> list[dict[str, Any]]:
    """Return rows of METRICS of the runs that entered the cycle."""
    from evolake.solvers.measurement.metrics import compute_metrics

    if population.runs.is_empty():
        return []
    return compute_metrics(
        population.runs, baselines=[row["variant_id"] for row in population.seeds()]
    ).to_dicts()


def make_variants(
    turn: CoderTurn, population: Population, plans: Sequence[Mapping[str, Any]], workspace: Workspace
) -> MadeVariants:
    """Return the coder's turn on all plans; each variant is archived with its documents, its diff and the
    evidence of the gates that it met."""
    cycle = turn.seeds.cycle
    trial = (
        partial(_trial, workspace, cycle)
        if workspace.settings.trial_formulas and not turn.operators
        else None
    )
    turn = replace(turn, facts=_coder_facts(population, workspace, cycle), trial=trial)
    submitted_on = {parent for plan in plans if is_submitted(plan) for parent in plan["parent_ids"]}
    parents = [
        row
        for row in population.rows()
        if row["state"] in LIVE or (row["state"] == "retired" and row["variant_id"] in submitted_on)
    ]
    result = propose_variants(
        turn,
        plans,
        _parent_pool(population, parents, workspace, cycle),
        ExistingVariants.of_rows(population.rows()),
    )
    rows, derivations, runs = [], [], []
    for item in result.variants:
        judged = item.judged
        assert isinstance(judged, VariantResults)
        blocked = judged.blocked_by
        rows.append(
            {
                "variant_id": item.variant_id,
                "state": "candidate",
                "cycle": cycle,
                "title": item.title,
                "base": item.base,
                "operator": item.operator,
                "origin": item.origin,
                "plan_id": item.plan_id,
                "hypothesis": item.hypothesis,
                "changed": item.changelog,
                "parents": [parent for parent, _ in item.weights],
                "edits": None if item.edits is None else write_edits(item.edits),
                "archive_sha": archive_variant(item.folder, workspace.blobs),
                "diff_sha": workspace.blobs.put(item.diff.encode()),
                "evidence": json.dumps(judged.evidence_shas, sort_keys=True),
                "gate": blocked.gate if blocked else None,
                "rule_id": blocked.rule_id if blocked else None,
                "reason": blocked.reason if blocked else None,
                "repairs": item.repairs,
                "objections": list(item.objections),
                "dropped": json.dumps(list(item.dropped), sort_keys=True) if item.dropped else None,
            }
        )
        runs += [{"gate": gate, **run} for gate, made in judged.runs.items() for run in made]
        runs += [{"gate": TRIAL, **run} for run in item.trials]
        derivations += derivations_of(item, cycle)
    failed_proposals = [
        {"plan_id": item.plan_id, "cycle": cycle, "reason": item.reason, "objections": list(item.objections)}
        for item in result.failed_proposals
    ]
    return MadeVariants(runs, rows, derivations, failed_proposals, len(result.failures))


def _trial(workspace: Workspace, cycle: str, commission: Commission, folder: Path) -> Trial:
    """Run the variant in `folder`, which was built for its gates, next to its parent on formulas drawn for
    the plan."""
    place = TrialPlace(workspace.trial_suite, workspace.limits, cycle)
    suite = place.draw(word_of(TRIAL, cycle, commission.plan["plan_id"]), workspace.settings.trial_formulas)
    parent, child = commission.parents[0].variant_id, source_sha(folder)
    programs = {
        name: workspace.built(tree, commission.base.name)
        for name, tree in ((child, folder), (parent, commission.parents[0].folder))
    }
    return trial_of(
        place.run(programs, suite.instances, f"{TRIAL}-{commission.plan['number']}"), parent, child
    )


def _coder_facts(population: Population, workspace: Workspace, cycle: str) -> CoderFacts:
    """Return what coders are sent of what decides."""
    settings = workspace.settings

    def families(names: Sequence[str]) -> list[FamilyResult]:
        return (
            []
            if population.runs.is_empty()
            else family_results(population.runs, names, settings=settings, cycle=cycle)
        )

    return CoderFacts(
        (population.champion_id or "")[:SHORT_ID],
        contest_texts(population.value(CONTESTS, [])),
        families,
        measuring_conditions(settings, population.value(CONTESTS, [])),
    )


def derivations_of(variant: Proposal, cycle: str) -> list[dict[str, Any]]:
    """Return rows of DERIVATIONS: each parent with its weight, also one of another code base."""
    return [
        {
            "child_id": variant.variant_id,
            "parent_id": parent,
            "operator": variant.operator,
            "weight": weight,
            "cycle": cycle,
        }
        for parent, weight in variant.weights
    ]
