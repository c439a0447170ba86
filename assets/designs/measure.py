"""Experiments and what they come to: at low fidelity for every design, objectives, their scores and the
consensus; medium and high fidelity for the best, and the consensus once more; then tuning: where too few
designs are tuned, trials on the parameters of the best one that is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.designs.line import archive, arrived_bundles, gates, jails, line, record_candidates, rules, so_far
from assets.shown import figures_of
from assets.store import LineStore
from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.scoring import (
    consensus_from,
    consensus_of,
    ranking_rows,
    score_rows,
    weight_rows,
)
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import (
    DESIGNS,
    EXPERIMENTS,
    EXTRAPOLATIONS,
    OBJECTIVES,
    RANKING,
    SCORES,
    TUNING,
    WEIGHTS,
)
from evolake.designs.work.rows import median_work
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.judging_objectives import JudgeObjective
    from evolake.designs.evolution.objective_writing import Written
    from evolake.designs.evolution.population import Population


def run_fidelity(
    store: LineStore, compute: ComputeResource, population: Population, ids: Sequence[str], fidelity: Any
) -> list[dict[str, Any]]:
    """Return rows of EXPERIMENTS of the designs `ids` at one fidelity; each continues from what it has solved
    before. Few designs share all cores."""
    from evolake.designs.evolution.experiments import Job, run_jobs
    from evolake.lake.secret import lake_secret, secret_seed

    settings = store.settings
    root = secret_seed(lake_secret(store.lake.root), settings.seed, line.name, "experiments")
    jobs = [
        Job(
            design_id,
            store.text(population.row(design_id)["traced_sha"]),
            fidelity,
            store.cycle,
            settings.profile,
            root,
            settings.of(DesignsSettings),
            tuple(population.experiment_rows([design_id])),
            threads=compute.cores_each(len(ids)),
        )
        for design_id in ids
    ]
    return run_jobs(
        compute.executor(),
        jobs,
        on_done=lambda job, rows: store.log(f"{fidelity} {job.design_id[:12]}: {_progress_text(rows)}"),
    )


@line.asset(deps=[line.incoming, "directions"], schema=EXPERIMENTS, kinds={"torch"})
def experiments(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource, candidates: pl.DataFrame
) -> pl.DataFrame:
    """Low fidelity: every accepted design that has not been measured yet, one row per size of instances."""
    store = LineStore(line, context, lake, compute)
    population = so_far(store, "candidates")
    rows = run_fidelity(store, compute, population, population.unmeasured(), "low")
    store.tell(run_metadata(rows, store.settings.profile) | {"candidates": candidates.height})
    return EXPERIMENTS.frame(rows)


def run_metadata(rows: Sequence[dict[str, Any]], profile: str) -> dict[str, Any]:
    """Return metadata: how much was run, and at what sizes; reduced profiles say so."""
    solved = [row["N"] for row in rows if row["unsolved_fraction"] < 0.5]
    return {
        "designs": len({row["design_id"] for row in rows}),
        "largest_n_solved": max(solved, default=0),
        "profile": profile,
        "steps": sum(row["steps_run"] for row in rows),
        "cpu_s": round(sum(row["cpu_s"] for row in rows), 2),
        "timed_out": sum(row["timed_out"] for row in rows),
    }


def _progress_text(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "nothing left to run"
    last = rows[-1]
    outcome = "solved" if last["unsolved_fraction"] < 0.5 else "not solved"
    return f"N={last['N']} {outcome}, median work {median_work(last):.0f}, {last['median_step']} steps"


@line.asset(
    deps=[line.incoming, "directions", "candidates", rules],
    gates=[OBJECTIVE.name],
    schema=OBJECTIVES,
    kinds={"python", "bubblewrap"},
)
def objectives(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    jail: JailResource,
    experiments: pl.DataFrame,
) -> pl.DataFrame:
    """Create new objectives of this cycle, each tried in the jail on the results at hand: what merges and
    imports have brought, and what the writer makes.

    The first cycle draws the portfolio that the line starts with.
    """
    from evolake.designs.evolution.importing import imported_objectives
    from evolake.designs.evolution.judging_objectives import consensus_at, objective_judge, trial_context
    from evolake.designs.evolution.objective_writing import (
        derivation_rows,
        initial_objectives,
        judged_rows,
        write_objectives,
    )
    from evolake.designs.evolution.scoring import live_objectives

    store = LineStore(line, context, lake)
    cycle, settings, population = store.cycle, store.settings, so_far(store, "candidates", "experiments")
    own, starts = settings.of(DesignsSettings), population.objectives.is_empty()
    trial = trial_context(population.results(), live_objectives(population), jails(jail))
    judge = objective_judge(
        trial, jails(jail), ruleset=store.rules(), cycle=cycle, run_id=store.run_id, keep=store.blobs.put
    )
    initial = initial_objectives(own, cycle=cycle, root_seed=settings.seed) if starts else []
    done = [
        judged_rows(initial, judge, starting=True),
        _merged(store, population.add(objectives=initial), judge),
    ]
    with store.roles(agents) as served:
        if not starts:
            done.append(
                write_objectives(
                    served,
                    population.add(objectives=done[-1].rows),
                    judge,
                    settings=own,
                    seeds=store.seeds,
                    origin=settings.backend,
                    scored=consensus_at(trial, population, cycle),
                )
            )
    known = population.add(objectives=[row for part in done for row in part.rows])
    done.append(judged_rows(imported_objectives(store.lake, known, arrived_bundles(store), cycle), judge))
    rows = [row for part in done for row in part.rows]
    store.artifacts(row | {"source_sha": store.blobs.put(row["source"].encode())} for row in rows)
    store.derivations(derivation_rows(rows))
    store.verdicts(verdict for part in done for verdict in part.verdicts)
    store.tell(
        {
            "accepted": sum(row["state"] == "accepted" for row in rows),
            "blocked": sum(row["state"] == "blocked" for row in rows),
            "merged": len(done[1].rows),
            "failed_calls": sum(len(part.failures) for part in done),
            "backend": settings.backend,
            "measured_designs": experiments["design_id"].n_unique(),
        }
    )
    return OBJECTIVES.frame(rows)


def _merged(store: LineStore, population: Population, judge: JudgeObjective) -> Written:
    """Return the objectives of the bundles that this cycle takes in, through their gate."""
    from evolake.designs.evolution.merge import admitted_objectives, entered_merges
    from evolake.designs.evolution.objective_writing import Written, judged_rows

    bundles = entered_merges(store.lake, archive(store), so_far(store), store.cycle)
    voted, ancestors = admitted_objectives(store.lake, population, bundles, store.cycle)
    judged = judged_rows(voted, judge)
    return Written([*ancestors, *judged.rows], judged.verdicts, [])


@line.asset(
    deps=[line.incoming, "directions", "candidates", "experiments"], schema=SCORES, kinds={"bubblewrap"}
)
def objective_scores(
    context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource, objectives: pl.DataFrame
) -> pl.DataFrame:
    """Every objective on every live design, with the low-fidelity results of this cycle. A missing score
    counts as worst."""
    store = LineStore(line, context, lake)
    return scored(
        store,
        jail,
        so_far(store, "candidates", "experiments", "objectives"),
        "low",
        {"new_objectives": objectives.height},
    )


@line.asset(deps=[line.incoming, "directions", "candidates", "experiments", "objectives"], schema=RANKING)
def consensus_ranking(
    context: dg.AssetExecutionContext, lake: LakeResource, objective_scores: pl.DataFrame
) -> pl.DataFrame:
    """Compute the consensus after low fidelity, which decides who is promoted."""
    store = LineStore(line, context, lake)
    return ranked_by(store, so_far(store, "candidates", "experiments", "objectives"), objective_scores)


def scored(
    store: LineStore, jail: JailResource, population: Population, fidelity: str, more: dict[str, Any]
) -> pl.DataFrame:
    """Return rows of SCORES: every live objective on every live design."""
    from evolake.designs.evolution.scoring import live_objectives

    voting = live_objectives(population)
    if not voting:
        raise dg.Failure(
            "no objective is left to judge the designs: every one was blocked. See why: "
            "evolake sql \"SELECT * FROM verdicts WHERE gate = 'objective'\"",
            allow_retries=False,
        )
    rows = score_rows(jails(jail), population, voting, store.cycle, fidelity)
    store.tell(
        more | {"objectives": len(voting), "missing_scores": sum(row["score"] is None for row in rows)}
    )
    return SCORES.frame(rows)


def ranked_by(store: LineStore, population: Population, scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows of RANKING from rows of SCORES; publishes the weights that made it.

    Figures are drawn of the cycle's last ranking alone.
    """
    from evolake.designs.report.material import FIGURES, Material

    cycle, stage = store.cycle, store.asset
    ranked = consensus_from(scores, population, cycle)
    frame = RANKING.frame(ranking_rows(ranked, population, cycle))
    store.extra(WEIGHTS, weight_rows(ranked, population, cycle, stage), f"{stage}_weights")
    first = population.row(str(ranked.order[0]))
    drawn = figures_of(FIGURES, Material(population, lambda: ranked), stage)
    store.tell({"first": first["title"], "first_id": first["design_id"]} | drawn)
    return frame


@line.asset(
    deps=[line.incoming, "directions", "experiments", "objectives", "candidates"],
    schema=EXPERIMENTS,
    kinds={"torch"},
)
def promoted_experiments(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    jail: JailResource,
    consensus_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Medium fidelity for the better half, then, ranked again with those results, high for the best tenth: by
    consensus rank or by scaling."""
    from evolake.designs.evolution.extrapolation import chosen

    store = LineStore(line, context, lake, compute)
    settings = store.settings.of(DesignsSettings)
    population = so_far(store, "candidates", "experiments", "objectives")
    order = consensus_ranking.sort("rank")["design_id"].to_list()
    going, expected = chosen(order, population.experiment_rows(), "medium", settings, store.cycle)
    medium = run_fidelity(store, compute, population, _new_at(population, going, "medium"), "medium")
    population = population.add(experiments=medium)
    order = [str(name) for name in consensus_of(jails(jail), population, store.cycle, "medium").order]
    going, expected_high = chosen(order, population.experiment_rows(), "high", settings, store.cycle)
    high = run_fidelity(store, compute, population, _new_at(population, going, "high"), "high")
    store.extra(EXTRAPOLATIONS, expected + expected_high, "extrapolations")
    rows = medium + high
    store.tell(
        run_metadata(rows, store.settings.profile)
        | {"medium_rows": len(medium), "high_rows": len(high), "promotion": settings.promotion}
    )
    return EXPERIMENTS.frame(rows)


@line.asset(
    deps=[line.incoming, "directions", "candidates", "experiments", "objectives"],
    schema=SCORES,
    kinds={"bubblewrap"},
)
def final_scores(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    jail: JailResource,
    promoted_experiments: pl.DataFrame,
) -> pl.DataFrame:
    """Every objective on every live design, with the promoted experiments."""
    store = LineStore(line, context, lake)
    population = so_far(store, "candidates", "experiments", "objectives", "promoted_experiments")
    return scored(store, jail, population, "high", {"promoted_rows": promoted_experiments.height})


@line.asset(
    deps=[line.incoming, "directions", "candidates", "experiments", "objectives", "promoted_experiments"],
    schema=RANKING,
)
def final_ranking(
    context: dg.AssetExecutionContext, lake: LakeResource, final_scores: pl.DataFrame
) -> pl.DataFrame:
    """Compute the consensus of the cycle. Its first design challenges the champion."""
    store = LineStore(line, context, lake)
    return ranked_by(
        store, so_far(store, "candidates", "experiments", "objectives", "promoted_experiments"), final_scores
    )


def _new_at(population: Population, ids: Sequence[str], fidelity: str) -> list[str]:
    """Return those of `ids` that have no row at this fidelity: what was measured stays measured."""
    there = set(population.experiments.filter(pl.col("fidelity") == fidelity)["design_id"].to_list())
    return [design_id for design_id in ids if design_id not in there]


@line.asset(
    deps=[line.incoming, "directions", "candidates", "experiments", "objectives", "promoted_experiments"],
    schema=TUNING,
    kinds={"optuna"},
)
def tuning(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    jail: JailResource,
    compute: ComputeResource,
    final_scores: pl.DataFrame,
    final_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """One row per trial; trial 0 is the design as it is. A copy that beats it is a new design with one
    parent, judged by the same gates."""
    from evolake.designs.evolution.scoring import live_objectives
    from evolake.designs.evolution.tuning import (
        Tuner,
        consensus_estimate,
        should_tune,
        tune_design,
        tuning_target,
    )
    from evolake.objectives.score import score_all

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    population = so_far(store, "candidates", "experiments", "objectives", "promoted_experiments")
    wanted = should_tune(population, settings.of(DesignsSettings))
    target = tuning_target(population, final_ranking.sort("rank")["design_id"].to_list()) if wanted else None
    rows, candidates, cpu_s, largest_n, reason = (
        [],
        [],
        0.0,
        0,
        "enough designs are tuned, or there is none left to tune",
    )
    if target is not None:
        pool = jails(jail)
        voting = live_objectives(population)
        estimate = consensus_estimate(
            consensus_from(final_scores, population, cycle), lambda results: score_all(voting, results, pool)
        )
        tuner = Tuner(
            estimate, pool, gates(store, pool), compute.executor(), population.graphs(), settings.profile
        )
        tuned = tune_design(
            tuner,
            population.parent(target, store.text),
            settings=settings.of(DesignsSettings),
            cycle_seeds=store.seeds,
            measured=population.experiment_rows([target]),
        )
        rows, reason, cpu_s, largest_n = tuned.rows, tuned.reason, tuned.cpu_s, tuned.largest_n
        candidates = [tuned.candidate] if tuned.candidate is not None else []
    designs = record_candidates(store, candidates, tuned=True)
    store.extra(DESIGNS, designs, "tuned_designs")
    store.tell(
        {
            "target": target or "none",
            "tuned_copies": len(designs),
            "reason": reason,
            "cpu_s": round(cpu_s, 2),
            "largest_n": largest_n,
        }
    )
    return TUNING.frame(rows)
