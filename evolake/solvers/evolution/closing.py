"""The end of a cycle: who lives on, what is written back into the repositories, what is carried into the
next cycle, and what it leaves to be learnt from: who did how well, findings, and the evidence that rules are
replayed on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake.blobs import BlobStore
from evolake.scratch import Scratch
from evolake.solvers.evolution.cycle_benchmark import current_runs
from evolake.solvers.evolution.population import (
    CONTESTS,
    FAILED_PLANS,
    Population,
    RankedCycle,
    edits_of_row,
    with_contests,
    with_failed_plans,
)
from evolake.solvers.evolution.post_mortem import Evaluated, PostMortem, attempt_of
from evolake.solvers.evolution.solver_contest import champion_after
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.evidence import load_evidence
from evolake.solvers.gates.judging import objections, without
from evolake.solvers.repository.variant import archive_variant
from evolake.solvers.rules.learned import Standing as ReplayStanding
from evolake.solvers.rules.learned import StoredVariant
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import CUT_OFF_SHARES

RESULTS = "RESULTS.md"
UNTOLD = "an answer on the holdout is refuted"
"""What goes beyond the verdict of what the holdout has shown: no role reads of its formulas."""


@dataclass(frozen=True)
class CycleResults:
    """What came of a cycle: rows of RUNS and METRICS; rows of DECISIONS; verdicts of record, of its variants,
    and on all that ran in it.

    contests: records of its contests (`population`). failed_proposals, plans: rows of `FAILED_PROPOSALS`
    and PLANS.
    """

    runs: pl.DataFrame
    metrics: Sequence[Mapping[str, Any]]
    decisions: Sequence[Mapping[str, Any]]
    verdicts: Sequence[Mapping[str, Any]]
    contests: Sequence[Mapping[str, Any]] = ()
    failed_proposals: Sequence[Mapping[str, Any]] = ()
    plans: Sequence[Mapping[str, Any]] = ()


def close_cycle(
    workspace: Workspace,
    ranked: RankedCycle,
    results: CycleResults,
    added: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    cycle: str,
) -> Population:
    """Return the population that enters the next cycle.

    added: this cycle's rows of objectives, derivations, rule_proposals, attempts (rows of HISTORY), findings
    and holdout.
    """
    population, decisions, blocked = ranked.population, results.decisions, objections(results.verdicts)
    measured = {row["variant_id"]: row for row in results.metrics}
    ranks = {row["variant_id"]: row for row in ranked.ranking}
    champion_id = champion_after(ranked, decisions, blocked)
    judged = [_with_state(row, blocked.get(row["variant_id"])) for row in ranked.variants]
    judged = [
        row | {"archive_sha": _written_back(workspace, row, measured.get(row["variant_id"]), ranks, cycle)}
        for row in judged
    ]
    fallen = [
        _with_state(row, blocked[row["variant_id"]])
        for row in population.rows()
        if row["variant_id"] in blocked
    ]
    live = [
        row
        for row in [*population.rows("accepted", "champion"), *judged]
        if row["state"] in ("accepted", "champion")
    ]
    live = [row for row in live if row["variant_id"] not in blocked]
    runs, ranking = (
        without(results.runs, blocked),
        [row for row in ranked.ranking if row["variant_id"] not in blocked],
    )
    order = [name for name in ranked.order if name not in blocked]
    chosen = choose_survivors(live, champion_id, order, workspace.settings.survivors)
    states = {row["variant_id"]: "accepted" if row["variant_id"] in chosen else "retired" for row in live} | {
        champion_id: "champion"
    }
    before = population.champion_id
    quiet = 0 if champion_id != before else population.value("cycles_without_gain", 0) + 1
    both = without(current_runs(population, runs, workspace.settings), blocked)
    return (
        population.with_tables(runs=both.to_dicts(), ranking=list(ranking))
        .updated(
            variants=[*fallen, *judged],
            derivations=added["derivations"],
            objectives=added["objectives"],
            rule_proposals=added["rule_proposals"],
            history=added["attempts"],
            findings=added["findings"],
            holdout=added["holdout"],
        )
        .with_states(states)
        .keep_runs([*chosen, champion_id])
        .with_values(
            cycles_without_gain=quiet,
            champion_since=_since(population, champion_id, cycle),
            duels_lost=_lost(population, champion_id, decisions),
            **{
                CONTESTS: with_contests(population.value(CONTESTS, []), results.contests),
                FAILED_PLANS: with_failed_plans(
                    population.value(FAILED_PLANS, []), results.failed_proposals, results.plans
                ),
            },
        )
    )


def fates(before: Population, closed: Population, cycle: str) -> list[dict[str, Any]]:
    """Return rows of VARIANTS: the cycle's own as accepted or blocked, those that were found unsound in it as
    blocked, overtaken as retired, and the champion.

    Accepted ones may come twice: what passed its gates and was overtaken immediately did pass them.
    """
    own = [row for row in closed.rows() if row["cycle"] == cycle]
    in_question = {*before.live_ids(), *(row["variant_id"] for row in own)}
    judged = [row | {"state": "blocked" if row["gate"] else "accepted"} for row in own]
    fallen = [
        row | {"cycle": cycle} for row in closed.rows("blocked") if row["variant_id"] in before.live_ids()
    ]
    overtaken = [row | {"cycle": cycle} for row in closed.rows("retired") if row["variant_id"] in in_question]
    return [*judged, *fallen, *overtaken, *(row | {"cycle": cycle} for row in closed.rows("champion"))]


def choose_survivors(
    live: Sequence[Mapping[str, Any]], champion_id: str, order: Sequence[str], most: int
) -> set[str]:
    """Return the champion, the seed of every base that has a survivor, and the best of the rest, `most` in
    all next to the seeds that are needed.

    Args:
        live: rows of VARIANTS. order: ids, best first.
    """
    rows = {row["variant_id"]: row for row in live}
    seeds = {row["base"]: row["variant_id"] for row in live if row["operator"] == "seed"}
    ranked = [champion_id, *(name for name in order if name in rows and name != champion_id)]
    chosen = [name for name in ranked if rows[name]["operator"] != "seed" or name == champion_id][:most]
    return set(chosen) | set(seeds.values())


def results_text(
    row: Mapping[str, Any],
    measured: Mapping[str, Any] | None,
    place: Mapping[str, Any] | None,
    of: int,
    cycle: str,
) -> str:
    """Return RESULTS.md: what the pipeline found, in words and figures."""
    head = f"# Results\n\nEvaluated in cycle {cycle}.\n\n"
    if row["state"] == "blocked":
        return f"{head}Blocked at the gate {row['gate']} by the rule {row['rule_id']}: {row['reason']}\n"
    if measured is None:
        return f"{head}Passed every gate. Not benchmarked.\n"
    within = ", ".join(f"{measured[f'solved_within_{share}']:g} within {share}%" for share in CUT_OFF_SHARES)
    rank = f"Rank {place['rank']} of {of} by consensus ({place['consensus']:.4f}).\n\n" if place else ""
    return (
        f"{head}Passed every gate. {rank}Suite {measured['suite']}, {measured['instances']} formulas, "
        f"{measured['timeout_s']:g} cpu seconds each: solved {measured['solved']:g} "
        f"({measured['solved_sat']:g} satisfiable, {measured['solved_unsat']:g} unsatisfiable; {within} "
        f"of the limit), {measured['wrong']} wrong answers.\n"
    )


def _with_state(row: Mapping[str, Any], objection: Mapping[str, Any] | None) -> dict[str, Any]:
    if objection is None:
        return dict(row) | {"state": "accepted", "gate": None, "rule_id": None, "reason": None}
    reason = UNTOLD if objection["gate"] == "holdout" else objection["reason"]
    return dict(row) | {
        "state": "blocked",
        "gate": objection["gate"],
        "rule_id": objection["rule_id"],
        "reason": reason,
    }


def _written_back(
    workspace: Workspace,
    row: Mapping[str, Any],
    measured: Mapping[str, Any] | None,
    ranks: Mapping[str, Mapping[str, Any]],
    cycle: str,
) -> str:
    """Return the archive again, with its RESULTS.md. The sources, and so the id, stay."""
    with Scratch("results") as parent:
        folder = Path(parent) / "variant"
        shutil.copytree(workspace.folder(row["archive_sha"]), folder, symlinks=True)
        (folder / RESULTS).write_text(
            results_text(row, measured, ranks.get(row["variant_id"]), len(ranks), cycle)
        )
        return archive_variant(folder, workspace.blobs)


def _lost(population: Population, champion_id: str, decisions: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return who has been run next to this champion and did not win, on how many formulas."""
    before = population.value("duels_lost", {}) if champion_id == population.champion_id else {}
    return before | {
        row["challenger_id"]: row["instances"] for row in decisions if row["champion_id"] == champion_id
    }


def _since(population: Population, champion_id: str, cycle: str) -> str:
    return population.value("champion_since", cycle) if champion_id == population.champion_id else cycle


def evaluate(
    population: Population,
    variants: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
    metrics: Sequence[Mapping[str, Any]],
    ranking: Sequence[Mapping[str, Any]],
    blobs: BlobStore,
) -> list[Evaluated]:
    """Return every variant of the cycle with what became of it, by the verdicts of record."""
    rows = {row["variant_id"]: row for row in population.rows()}
    blocked = {row["artifact_id"]: row for row in verdicts if row["outcome"] != "pass"}
    measured = {row["variant_id"]: row for row in metrics}
    ranks = {row["variant_id"]: row["rank"] for row in ranking}
    result = []
    for row in variants:
        name, parent = row["variant_id"], rows.get(row["parents"][0]) if row["parents"] else None
        objection = blocked.get(name)
        parent_id = parent["variant_id"] if parent else ""
        result.append(
            Evaluated(
                name,
                row["base"],
                row["hypothesis"],
                blobs.get(row["diff_sha"]).decode(),
                edits_of_row(row),
                edits_of_row(parent) if parent else (),
                objection["gate"] if objection else "",
                objection["rule_id"] if objection else "",
                objection["reason"] if objection else "",
                row["objections"][-1] if row["objections"] else "",
                None if objection else measured.get(name),
                measured.get(parent_id),
                None if objection else ranks.get(name),
                ranks.get(parent_id),
            )
        )
    return result


def history_rows(
    evaluated: Sequence[Evaluated], ranked: int, cycle: str, settings: SolversSettings
) -> list[dict[str, Any]]:
    """Return rows of HISTORY."""
    return [
        attempt_of(item, ranked, settings).model_dump() | {"variant_id": item.variant_id, "cycle": cycle}
        for item in evaluated
    ]


def finding_rows(result: PostMortem, cycle: str) -> list[dict[str, Any]]:
    """Return rows of FINDINGS."""
    return [
        {
            "finding_id": f"{cycle}-{number}",
            "cycle": cycle,
            "title": item.title,
            "lesson": item.lesson,
            "subject": item.subject,
            "explanation": item.explanation,
            "evidence": list(item.evidence),
            "assessment": result.assessment,
        }
        for number, item in enumerate(result.findings)
    ]


def stored_variants(
    population: Population,
    variants: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    blobs: BlobStore,
) -> list[StoredVariant]:
    """Return all variants that the lake remembers with the evidence of the compliance gate, for replay."""
    blocked = {
        row["artifact_id"]: (row["gate"], row["rule_id"]) for row in verdicts if row["outcome"] != "pass"
    }
    worse = {
        row["variant_id"]
        for row in [*population.history.to_dicts(), *history]
        if (row["solved_gain"] or 0.0) < 0
    }
    result = []
    for row in [*population.rows(), *variants]:
        gate, rule = blocked.get(
            row["variant_id"],
            (row["gate"] or "", row["rule_id"] or "") if row["state"] == "blocked" else ("", ""),
        )
        standing: ReplayStanding
        if gate:
            standing = "blocked"
        elif row["variant_id"] in worse:
            standing = "regressed"
        else:
            standing = "accepted"
        sha = json.loads(row["evidence"] or "{}").get("compliance")
        result.append(
            StoredVariant(
                row["variant_id"],
                row["cycle"],
                standing,
                gate or ("benchmark" if standing == "regressed" else ""),
                rule or ("solved" if standing == "regressed" else ""),
                load_evidence(sha, blobs) if sha else None,
            )
        )
    return result
