"""What the stages of a cycle do with the population: plans, variants, runs, ranking, duels. Plain data in and out; only runs leave the process."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.agents import Agents
from evolake.errors import LakeError
from evolake.gates import Ruleset, Verdict
from evolake.lake.blobs import BlobStore
from evolake.search.mcgs import SearchGraph
from evolake.solvers.edits import write_edits
from evolake.solvers.evolution.planning import Planned, plan_variants, standings
from evolake.solvers.evolution.population import Population, edits_of_row
from evolake.solvers.evolution.post_mortem import Evaluated, PostMortem, attempt_of
from evolake.solvers.evolution.proposing import propose_variants
from evolake.solvers.evolution.workspace import Workshop
from evolake.solvers.gates.judging import Judged, load_evidence
from evolake.solvers.gates.soundness import Judge, unsound_in
from evolake.solvers.measurement.benchmark import Plan, Progress, plan_jobs, run_jobs
from evolake.solvers.measurement.duel import Contender, decide, decision_rng, run_duel
from evolake.solvers.objectives.consensus import rank_variants
from evolake.solvers.repository.variant import archive_variant
from evolake.solvers.roles.told_rules import forbidden_edits, rule_texts
from evolake.solvers.rules.replay import Standing as ReplayStanding
from evolake.solvers.rules.replay import StoredVariant
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import DUELS, HOLDOUT_RUNS, RUNS


@dataclass(frozen=True)
class Made:
    """What the coder's turn gave: rows of VARIANTS, DERIVATIONS and UNMADE, rows of RUNS by gate, and how many calls failed."""

    runs: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    derivations: list[dict[str, Any]]
    unmade: list[dict[str, Any]]
    failures: int


@dataclass(frozen=True)
class Reign:
    """Who reigns after the duels, and whether that is somebody new. Rows of DUELS and DECISIONS, verdicts on all who took part."""

    champion_id: str
    changed: bool
    trials: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    verdicts: list[Verdict]


def plan_cycle(
    agents: Agents, population: Population, shop: Workshop, ruleset: Ruleset, *, cycle: str, root_seed: int, guidance: Sequence[str] = (),
) -> Planned:
    """Plans on the variants that live."""
    known = [shop.known(row) for row in population.rows("accepted", "champion")]
    return plan_variants(
        agents, known, shop.bases(), ranking=population.ranking.to_dicts(), metrics=entering_metrics(population), history=population.attempts(),
        settings=shop.settings, cycle=cycle, root_seed=root_seed, findings=[_told(row) for row in population.findings.to_dicts()],
        rules=rule_texts(ruleset), forbidden=forbidden_edits(ruleset), guidance=guidance,
        cycles_without_gain=population.value("cycles_without_gain", 0),
    )


def entering_metrics(population: Population) -> list[dict[str, Any]]:
    """Rows of METRICS of the runs that entered the cycle."""
    from evolake.solvers.measurement.metrics import compute_metrics

    if population.runs.is_empty():
        return []
    return compute_metrics(population.runs, baselines=[row["variant_id"] for row in population.seeds()]).to_dicts()


def make_variants(
    agents: Agents, population: Population, plans: Sequence[Mapping[str, Any]], shop: Workshop, ruleset: Ruleset, into: Path,
    judge: Callable[[Path], Judged], *, cycle: str, root_seed: int,
) -> Made:
    """The coder's turn on all plans; each variant is archived with its documents, its diff and the evidence of the gates that it met."""
    live = [shop.known(row) for row in population.rows("accepted", "champion")]
    lines = standings(live, ranking=population.ranking.to_dicts(), metrics=entering_metrics(population), settings=shop.settings, cycle=cycle)
    taken: dict[str, list[str]] = {}
    for row in population.rows():
        if row["edits"] is not None:
            taken.setdefault(row["base"], []).append(row["edits"])
    found = propose_variants(
        agents, plans, {item.variant_id: item for item in live}, shop.bases(), {item.variant_id: item for item in lines}, into, judge,
        settings=shop.settings, cycle=cycle, root_seed=root_seed, rules=rule_texts(ruleset), forbidden=forbidden_edits(ruleset),
        existing=[row["variant_id"] for row in population.rows()], taken=taken,
    )
    rows, derivations, runs = [], [], []
    for item in found.variants:
        judged = item.judged
        assert isinstance(judged, Judged)
        blocked = judged.blocked
        rows.append({
            "variant_id": item.variant_id, "state": "candidate", "cycle": cycle, "title": item.title, "base": item.base, "operator": item.operator,
            "origin": item.origin, "plan_id": item.plan_id, "hypothesis": item.hypothesis, "changed": item.changelog,
            "parents": [parent for parent, _ in item.weights], "edits": None if item.edits is None else write_edits(item.edits),
            "archive_sha": archive_variant(item.folder, shop.blobs), "diff_sha": shop.blobs.put(item.diff.encode()),
            "evidence": json.dumps(dict(judged.evidence), sort_keys=True), "gate": blocked.gate if blocked else None,
            "rule_id": blocked.rule_id if blocked else None, "reason": blocked.reason if blocked else None, "repairs": item.repairs,
            "objections": list(item.objections), "dropped": json.dumps(list(item.dropped), sort_keys=True) if item.dropped else None,
        })
        by_gate = {"smoke": judged.smoke_runs, "correctness": judged.correctness_runs, "stability": judged.stability_runs}
        runs += [{"gate": gate, **run} for gate, made in by_gate.items() for run in made]
        derivations += [
            {"child_id": item.variant_id, "parent_id": parent, "operator": item.operator, "weight": weight, "cycle": cycle}
            for parent, weight in item.weights
        ]
    unmade = [{"plan_id": item.plan_id, "cycle": cycle, "reason": item.reason, "objections": list(item.objections)} for item in found.unmade]
    return Made(runs, rows, derivations, unmade, len(found.failures))


def benchmark(
    shop: Workshop, population: Population, fresh: Sequence[Mapping[str, Any]], executor: Executor, *, cycle: str,
    on_progress: Progress | None = None,
) -> pl.DataFrame:
    """Rows of RUNS on `train` of the accepted variants `fresh`, and of live ones that have no runs under today's limits."""
    settings = shop.settings
    have = set(current_runs(population, RUNS.empty(), settings)["variant_id"].to_list())
    wanted = {row["variant_id"]: row for row in [*population.rows("accepted", "champion"), *fresh] if row["variant_id"] not in have}
    suite = shop.suite("train")
    champions = frozenset(filter(None, [population.champion_id()]))
    jobs = plan_jobs({name: shop.program(row) for name, row in wanted.items()}, suite, measuring_plan(shop, cycle, champions), cycle=cycle)
    return run_jobs(jobs, executor, journal=shop.journal("benchmark", cycle), on_progress=on_progress)


def measuring_plan(shop: Workshop, cycle: str, champions: frozenset[str] = frozenset(), repeats: int = 1) -> Plan:
    """How the profile measures. A proof of a formula that was checked before is not checked again."""
    limits = shop.limits
    return Plan(
        limits.run, proof_share=shop.settings.proof_share, champions=champions, repeats=repeats, proof_limits=limits.proof, verdicts=shop.proofs,
        draw=shop.key(cycle, "benchmark"),
    )


def current_runs(population: Population, fresh: pl.DataFrame, settings: SolversSettings) -> pl.DataFrame:
    """Runs that may be compared: those of live variants under today's limits and conditions, and the fresh ones."""
    kept = population.runs.filter(
        pl.col("variant_id").is_in(population.live_ids()) & (pl.col("timeout_s") == settings.timeout_s) & (pl.col("memory_mb") == settings.memory_mb)
    )
    kept = kept.filter(~pl.col("variant_id").is_in(_measured_otherwise(kept, settings)))
    instances = set(fresh["instance"].to_list())
    if instances and not kept.is_empty() and set(kept["instance"].to_list()) != instances:
        kept = kept.clear()  # another size of the suite: old runs do not compare
    return pl.concat([kept, fresh.filter(~pl.col("variant_id").is_in(kept["variant_id"].unique().to_list()))])


def _measured_otherwise(runs: pl.DataFrame, settings: SolversSettings) -> list[str]:
    """Variants whose runs do not compare with today's: of a time when SAT runs wrote no proof, or when unchecked answers counted."""
    writes = pl.col("proof_bytes").is_not_null().any().over("variant_id")
    without_proof = writes & (pl.col("status") == "sat") & pl.col("proof_bytes").is_null()
    unchecked = (pl.col("proof_status") == "unchecked") & (pl.col("status") == "unsat") & (pl.col("solved") | (settings.proof_share == 1))
    return runs.filter(without_proof | unchecked)["variant_id"].unique().to_list()


@dataclass(frozen=True)
class Voting:
    """An objective that votes."""

    objective_id: str
    source: str


def voting(population: Population, new: pl.DataFrame) -> list[Voting]:
    """All objectives that are in force. new: the cycle's rows of OBJECTIVES, which hold where the population has others of the same id."""
    rows = {row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new.to_dicts()]}
    return [Voting(row["objective_id"], row["source"]) for row in rows.values() if row["state"] == "accepted"]


def rank(
    population: Population, new_objectives: pl.DataFrame, scores: pl.DataFrame, metrics: pl.DataFrame, derived: Sequence[Mapping[str, Any]], *,
    cycle: str,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of RANKING, best first, and the weights of the objectives."""
    objectives = {row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new_objectives.to_dicts()]}
    places, ranked = rank_variants(
        scores, {name: row["created_round"] for name, row in objectives.items()}, int(cycle),
        {name: row["multiplier"] for name, row in objectives.items() if name in set(scores["objective_id"])},
    )
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    order = [item.variant_id for item in places]
    edges = [(row["parent_id"], row["child_id"], row["weight"]) for row in [*population.derivations.to_dicts(), *derived]]
    nodes = list(dict.fromkeys([*population.variants["variant_id"].to_list(), *order, *(name for edge in edges for name in edge[:2])]))
    bounds = {str(item.design_id): item for item in SearchGraph(nodes, edges).ucb(order)}
    rows = [
        {
            "variant_id": item.variant_id, "cycle": cycle, "rank": item.rank, "consensus": item.consensus, "visits": bounds[item.variant_id].visits,
            "ucb": bounds[item.variant_id].ucb, "solved": measured[item.variant_id]["solved"], "par2": measured[item.variant_id]["par2"],
            "wrong": measured[item.variant_id]["wrong"],
        }
        for item in places
    ]
    weights = [
        {
            "objective_id": str(name), "cycle": cycle, "weight": float(weight), "median_tau": float(tau), "family": objectives[str(name)]["family"],
            "description": objectives[str(name)]["description"],
        }
        for name, weight, tau in zip(ranked.objective_ids, ranked.result.weights, ranked.result.median_tau, strict=True)
    ]
    return rows, weights


def challenge(
    shop: Workshop, population: Population, variants: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]], executor: Executor, *,
    cycle: str, root_seed: int, judge: Judge, unsound: Collection[str] = (),
) -> Reign:
    """The best-ranked variants against the one that reigns, on formulas that nobody has seen; in the first cycle that is the best-ranked seed.

    Who has lost to it is asked again only where a duel has more formulas by now. Of several winners the one with the largest gain reigns. Where the
    champion is found unsound in a duel it falls: the best-ranked sound seed takes its place and is challenged in its turn.

    Args:
        judge: finds who is unsound by the runs of a duel. unsound: who is known to be.
    """
    rows = {row["variant_id"]: row for row in [*population.rows(), *variants]}
    settings, fallen = shop.settings, set(unsound)
    suite, trials, decisions, seen = shop.duel_suite(cycle), [], [], []
    lost = {name for name, formulas in population.value("duels_lost", {}).items() if formulas >= len(suite.instances)}
    while True:
        incumbent = incumbent_of(population, ranking, fallen)
        order = [row["variant_id"] for row in sorted(ranking, key=lambda row: row["rank"]) if row["variant_id"] not in fallen]
        lost = lost if incumbent == population.champion_id() else set()
        reigning = Contender(incumbent, shop.program(rows[incumbent]))
        for name in [name for name in order if name != incumbent and name not in lost][: settings.challengers]:
            found = run_duel(
                reigning, Contender(name, shop.program(rows[name])), suite, measuring_plan(shop, cycle), executor, cycle=cycle, pairs=settings.pairs,
                journal=shop.journal("duel", cycle, incumbent, name),
            )
            seen += found
            fallen |= unsound_in(judge(found))
            trials = [row for row in trials if row["challenger_id"] != name] + found
            decided = decide(DUELS.frame(found), decision_rng(root_seed, cycle, name)).row(cycle)
            decisions = [row for row in decisions if row["challenger_id"] != name] + [_refused(decided, fallen)]
            if incumbent in fallen:
                break
        if incumbent not in fallen:
            champion_id = champion_after(population, decisions, ranking, fallen)
            return Reign(champion_id, champion_id != population.champion_id(), trials, decisions, judge(seen))


def _refused(decision: dict[str, Any], unsound: Collection[str]) -> dict[str, Any]:
    """A row of DECISIONS; nobody wins who is blocked for good, and nobody wins against who is."""
    named = [part for part in ("challenger", "champion") if decision[f"{part}_id"] in unsound]
    return decision | ({"wins": False, "reason": f"the {named[0]} is blocked for good; {decision['reason']}"} if named else {})


def incumbent_of(population: Population, ranking: Sequence[Mapping[str, Any]], unsound: Collection[str] = ()) -> str:
    """Who reigns before any duel: the champion, or the best-ranked seed where there is none that is sound.

    Raises:
        LakeError: no seed is sound either.
    """
    champion_id, seeds = population.champion_id(), {row["variant_id"] for row in population.seeds()}
    order = [row["variant_id"] for row in sorted(ranking, key=lambda row: row["rank"])]
    for name in [*([champion_id] if champion_id else []), *(name for name in order if name in seeds)]:
        if name not in unsound:
            return name
    raise LakeError("no sound solver is left to reign", wanted="a seed whose answers hold", do="name other seeds in EVOLAKE_SOLVERS__SEEDS")


def champion_after(
    population: Population, decisions: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]], unsound: Collection[str] = ()
) -> str:
    """Who reigns after the rows of DECISIONS, of those who are not unsound: the winner with the largest gain, else who was challenged, else who
    reigned before."""
    sound = [row for row in decisions if row["wins"] and row["challenger_id"] not in unsound]
    winners = sorted(sound, key=lambda row: (-row["ratio"], row["challenger_id"]))
    if winners:
        return winners[0]["challenger_id"]
    challenged = [row["champion_id"] for row in decisions if row["champion_id"] not in unsound]
    return challenged[-1] if challenged else incumbent_of(population, ranking, unsound)


def measure_holdout(
    shop: Workshop, population: Population, variants: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]], executor: Executor, *, cycle: str, judge: Judge, unsound: Collection[str] = (),
) -> tuple[pl.DataFrame, list[Verdict]]:
    """Rows of HOLDOUT_RUNS of the champion and of its seed, where they are not measured yet, and verdicts on them. Every proof is checked; a champion
    that is found unsound falls, and the next one is measured.
    """
    settings, fallen = shop.settings, set(unsound)
    rows = {row["variant_id"]: row for row in [*population.rows(), *variants]}
    have = set(population.holdout.filter(pl.col("timeout_s") == settings.timeout_s)["variant_id"].to_list())
    found = HOLDOUT_RUNS.empty()
    while True:
        champion_id = champion_after(population, decisions, ranking, fallen)
        pair = [rows[champion_id], population.seed_of(rows[champion_id]["base"])]
        programs = {row["variant_id"]: shop.program(row) for row in pair if row["variant_id"] not in have}
        plan = measuring_plan(shop, cycle, frozenset(programs), settings.holdout_repeats)
        jobs = plan_jobs(programs, shop.suite("holdout"), plan, cycle=cycle)
        more = run_jobs(jobs, executor, journal=shop.journal("holdout", cycle), schema=HOLDOUT_RUNS)
        found, have = pl.concat([found, more]), have | set(programs)
        verdicts = judge(found.to_dicts())
        fallen |= unsound_in(verdicts)
        if champion_id not in fallen:
            return found, verdicts


def evaluate(
    population: Population, variants: Sequence[Mapping[str, Any]], verdicts: Sequence[Mapping[str, Any]], metrics: Sequence[Mapping[str, Any]],
    ranking: Sequence[Mapping[str, Any]], blobs: BlobStore,
) -> list[Evaluated]:
    """Every variant of the cycle with what became of it, by the verdicts of record."""
    rows = {row["variant_id"]: row for row in population.rows()}
    blocked = {row["artifact_id"]: row for row in verdicts if row["outcome"] != "pass"}
    measured = {row["variant_id"]: row for row in metrics}
    ranks = {row["variant_id"]: row["rank"] for row in ranking}
    found = []
    for row in variants:
        name, parent = row["variant_id"], rows.get(row["parents"][0]) if row["parents"] else None
        objection = blocked.get(name)
        parent_id = parent["variant_id"] if parent else ""
        found.append(Evaluated(
            name, row["base"], row["hypothesis"], blobs.get(row["diff_sha"]).decode(), edits_of_row(row), edits_of_row(parent) if parent else (),
            objection["gate"] if objection else "", objection["rule_id"] if objection else "", objection["reason"] if objection else "",
            row["objections"][-1] if row["objections"] else "", None if objection else measured.get(name), measured.get(parent_id),
            None if objection else ranks.get(name), ranks.get(parent_id),
        ))
    return found


def history_rows(evaluated: Sequence[Evaluated], ranked: int, cycle: str) -> list[dict[str, Any]]:
    """Rows of HISTORY."""
    return [attempt_of(item, ranked).model_dump() | {"variant_id": item.variant_id, "cycle": cycle} for item in evaluated]


def finding_rows(found: PostMortem, cycle: str) -> list[dict[str, Any]]:
    """Rows of FINDINGS."""
    return [
        {
            "finding_id": f"{cycle}-{number}", "cycle": cycle, "title": item.title, "lesson": item.lesson, "subject": item.subject,
            "explanation": item.explanation, "evidence": list(item.evidence), "assessment": found.assessment,
        }
        for number, item in enumerate(found.findings)
    ]


def stored_variants(
    population: Population, variants: Sequence[Mapping[str, Any]], verdicts: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]],
    blobs: BlobStore,
) -> list[StoredVariant]:
    """All variants that the lake remembers with the evidence of the compliance gate, for replay."""
    blocked = {row["artifact_id"]: (row["gate"], row["rule_id"]) for row in verdicts if row["outcome"] != "pass"}
    worse = {row["variant_id"] for row in [*population.history.to_dicts(), *history] if (row["solved_gain"] or 0.0) < 0}
    found = []
    for row in [*population.rows(), *variants]:
        gate, rule = blocked.get(row["variant_id"], (row["gate"] or "", row["rule_id"] or "") if row["state"] == "blocked" else ("", ""))
        standing: ReplayStanding = "blocked" if gate else "regressed" if row["variant_id"] in worse else "accepted"
        sha = json.loads(row["evidence"] or "{}").get("compliance")
        found.append(StoredVariant(
            row["variant_id"], row["cycle"], standing, gate or ("benchmark" if standing == "regressed" else ""),
            rule or ("solved" if standing == "regressed" else ""), load_evidence(sha, blobs) if sha else None,
        ))
    return found


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['title']}: {row['explanation']}"
