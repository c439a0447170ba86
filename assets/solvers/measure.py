"""Benchmark runs of what the gates have passed, the ranking by a consensus of objectives, who is champion
(the best-ranked next to the champion, in interleaved pairs), and, aside, what the champion is worth on
formulas that no role has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.line import MEASURES_TIME
from assets.solvers.judge import late_verdicts, of_record, publish_late
from assets.solvers.line import archive, line, open_workspace, rules_in_force
from assets.store import LineStore
from evolake.lake import DERIVATIONS, EVALUATIONS, preceding
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import (
    CONTEST_FAMILIES,
    CONTROL,
    DECISIONS,
    DUELS,
    HOLDOUT_RUNS,
    METRICS,
    OBJECTIVE_REVIEWS,
    OBJECTIVES,
    RACES,
    RANKING,
    RUNS,
    SCORES,
    WEIGHTS,
)
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.solvers.evolution.population import Population


@line.asset(
    deps=[line.incoming, "compliance", "binaries", "smoke", "correctness"],
    schema=RUNS,
    kinds={"bubblewrap"},
    metadata={MEASURES_TIME: True},
)
def benchmark_runs(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource, variants: pl.DataFrame
) -> pl.DataFrame:
    """Run every variant on the suite `train` that has not run it yet: new ones, and seeds in the first cycle.
    Answers are checked; a variant that gives a refuted one is unsound permanently."""
    from evolake.solvers.evolution.cycle_benchmark import benchmark
    from evolake.solvers.gates.judging import stage_judge
    from evolake.solvers.measurement.metrics import evaluation_rows

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    judge = stage_judge(
        "benchmark", rules_in_force(store, population), store.blobs, cycle=cycle, run_id=store.run_id
    )
    accepted = of_record.passed(store, variants)
    fresh = [row for row in variants.to_dicts() if row["variant_id"] in accepted]

    def progress(done: int, total: int, row: object) -> None:
        if done % 50 == 0 or done == total:
            store.log(f"benchmark: {done} of {total} runs")

    runs = benchmark(
        open_workspace(store, population),
        population,
        fresh,
        compute.executor(),
        cycle=cycle,
        on_progress=progress,
    )
    publish_late(store, judge(runs.to_dicts()))
    store.side(EVALUATIONS, evaluation_rows(runs))
    store.tell(
        {
            "variants": runs["variant_id"].n_unique(),
            "formulas": runs["instance"].n_unique(),
            "solved": int(runs["solved"].sum()),
            "wrong": runs.filter(pl.col("status") == "wrong").height,
            "proofs_verified": runs.filter(pl.col("proof_status") == "verified").height,
            "cpu_s": round(float(runs["cpu_s"].sum()), 1),
            "timeout_s": store.settings.of(SolversSettings).timeout_s,
        }
    )
    return runs


@line.asset(deps=[line.incoming], schema=METRICS)
def metrics(
    context: dg.AssetExecutionContext, lake: LakeResource, benchmark_runs: pl.DataFrame
) -> pl.DataFrame:
    """Summarize the runs of every live variant: solved, PAR-2, cut-offs, memory, match with the virtual best
    solver."""
    from evolake.solvers.measurement.metrics import compute_metrics

    store = LineStore(line, context, lake)
    population = archive(store)
    runs = sound_runs(store, population, benchmark_runs)
    result = compute_metrics(
        runs, baselines=[row["variant_id"] for row in population.seeds()], cycle=store.cycle
    )
    store.tell(
        {
            "variants": result.height,
            "best_par2": _least(result, "par2"),
            "most_solved": _most(result, "solved"),
            "checked_share": checked(runs),
        }
    )
    return result


@line.asset(deps=[line.incoming, "metrics"], schema=OBJECTIVES, kinds={"bubblewrap"})
def objectives(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    jail: JailResource,
    benchmark_runs: pl.DataFrame,
) -> pl.DataFrame:
    """Create this cycle's new objectives, tried on its runs, and those that it reviewed or retired. The first
    cycle draws the portfolio."""
    from evolake.solvers.evolution.objective_evolution import evolve_objectives

    store = LineStore(line, context, lake)
    cycle, settings, population = store.cycle, store.settings, archive(store)
    with store.roles(agents) as served:
        evolved = evolve_objectives(
            served,
            population,
            sound_runs(store, population, benchmark_runs),
            jail.open(("numpy",)),
            settings=settings.of(SolversSettings),
            cycle=cycle,
            root_seed=settings.seed,
            guidance=store.guidance(),
        )
    store.extra(OBJECTIVE_REVIEWS, evolved.reviews, "objective_reviews")
    new = [row["state"] for row in evolved.rows if row["cycle"] == cycle]
    store.tell(
        {
            "accepted": new.count("accepted"),
            "blocked": new.count("blocked"),
            "retired": sum(row["state"] == "retired" for row in evolved.rows),
            "failed_calls": len(evolved.failures),
            "backend": settings.backend,
        }
    )
    return OBJECTIVES.frame(evolved.rows)


@line.asset(deps=[line.incoming, "metrics"], schema=SCORES, kinds={"bubblewrap"})
def objective_scores(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    jail: JailResource,
    benchmark_runs: pl.DataFrame,
    objectives: pl.DataFrame,
) -> pl.DataFrame:
    """Every objective on every live variant, in the jail. A missing score counts as worst."""
    from evolake.solvers.evolution.cycle_benchmark import voting
    from evolake.solvers.objectives.portfolio import score_variants

    store = LineStore(line, context, lake)
    population = archive(store)
    result = score_variants(
        voting(population, objectives),
        sound_runs(store, population, benchmark_runs),
        jail.open(("numpy",)),
        cycle=store.cycle,
    )
    store.tell(
        {"objectives": result["objective_id"].n_unique(), "missing_scores": result["score"].null_count()}
    )
    return result


@line.asset(deps=[line.incoming, "variants"], schema=RANKING)
def consensus_ranking(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    metrics: pl.DataFrame,
    objectives: pl.DataFrame,
    objective_scores: pl.DataFrame,
) -> pl.DataFrame:
    """All live variants by the consensus of the objectives, with visits and bounds of the graph search."""
    from evolake.solvers.evolution.cycle_benchmark import rank

    store = LineStore(line, context, lake)
    rows, weights = rank(
        archive(store),
        objectives,
        objective_scores,
        metrics,
        store.rows("variants", DERIVATIONS),
        cycle=store.cycle,
    )
    store.extra(WEIGHTS, weights, "consensus_ranking_weights")
    store.tell({"ranked": len(rows), "first": rows[0]["variant_id"] if rows else "none"})
    return RANKING.frame(rows)


def sound_runs(store: LineStore, population: Population, fresh: pl.DataFrame) -> pl.DataFrame:
    """Select runs that may be compared, of variants that were not found unsound by them."""
    from evolake.solvers.evolution.cycle_benchmark import current_runs
    from evolake.solvers.gates.judging import objections, without

    unsound = objections(late_verdicts(store, "benchmark_runs"))
    return without(current_runs(population, fresh, store.settings.of(SolversSettings)), unsound)


def checked(runs: pl.DataFrame) -> str:
    """Return how many of the runs' UNSAT answers were checked, for a reader."""
    from evolake.solvers.measurement.metrics import checked_share

    share = runs.select(checked_share()).item()
    return "no UNSAT answer" if share is None else f"{share:.0%} of UNSAT answers"


def _least(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].min() or 0.0)  # pyright: ignore[reportArgumentType]


def _most(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].max() or 0.0)  # pyright: ignore[reportArgumentType]


@line.asset(deps=[line.incoming], schema=DECISIONS, kinds={"bubblewrap"}, metadata={MEASURES_TIME: True})
def champion(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Run the best-ranked challengers, each next to the champion, pair by pair. It takes a gain beyond the
    noise, and no formula lost. A variant that is found unsound is blocked permanently."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.solver_contest import decide_champion
    from evolake.solvers.gates.judging import objections, stage_judge

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    contest = store.contest(row["variant_id"] for row in (*population.rows(), *variants.to_dicts()))
    shown: list[str] = []

    def say(text: str) -> None:
        store.log(text)
        shown.append(text)

    result = decide_champion(
        open_workspace(store, population),
        RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts()),
        compute.executor(),
        seeds=contest,
        unsound=objections(late_verdicts(store, "benchmark_runs")),
        judge=stage_judge(
            "duel", rules_in_force(store, population), store.blobs, cycle=cycle, run_id=store.run_id
        ),
        say=say,
    )
    publish_late(store, result.verdicts)
    store.reveal(contest)
    store.extra(DUELS, result.trials, "champion_trials")
    store.extra(RACES, result.races, "champion_races")
    store.extra(CONTEST_FAMILIES, result.families)
    details = {f"against_{row['challenger_id'][:12]}": row["reason"] for row in result.decisions}
    store.tell({"champion": result.champion_id, "changed": result.changed, "power": shown[0]} | details)
    return DECISIONS.frame(result.decisions)


def contests(store: LineStore, decisions: pl.DataFrame, variants: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the contests of this cycle as roles may see them."""
    from evolake.solvers.evolution.population import contest_records

    titles = {row["variant_id"]: row["title"] for row in [*archive(store).rows(), *variants.to_dicts()]}
    return contest_records(
        decisions.to_dicts(), store.rows(CONTEST_FAMILIES.name), titles, store.rows(RACES.name)
    )


@line.asset(deps=[line.incoming], schema=HOLDOUT_RUNS, kinds={"bubblewrap"}, metadata={MEASURES_TIME: True})
def holdout_runs(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Run the champion and its seed on the suite `holdout`, every proof checked. Seen by people only: no
    role, rule or ranking gets these rows. A refuted answer makes its variant unsound permanently: a champion
    falls."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.solver_contest import measure_holdout
    from evolake.solvers.gates.judging import objections, stage_judge

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    runs, verdicts = measure_holdout(
        open_workspace(store, population),
        RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts()),
        champion.to_dicts(),
        compute.executor(),
        cycle=cycle,
        unsound=objections(late_verdicts(store, "benchmark_runs", "champion")),
        judge=stage_judge(
            "holdout", rules_in_force(store, population), store.blobs, cycle=cycle, run_id=store.run_id
        ),
    )
    publish_late(store, verdicts)
    store.tell(
        {
            "variants": runs["variant_id"].n_unique(),
            "solved": int(runs["solved"].sum()),
            "wrong": runs.filter(pl.col("status") == "wrong").height,
            "checked_share": checked(runs),
        }
    )
    return runs


@line.asset(deps=[line.incoming], schema=CONTROL, kinds={"bubblewrap"}, metadata={MEASURES_TIME: True})
def control(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
    benchmark_runs: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Try random options of the champion's seed on the suite `train`, in a share of the processor seconds
    that the cycle's new variants ran there: the dumb search that variants have to beat."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.solver_contest import champion_after
    from evolake.solvers.gates.judging import objections
    from evolake.solvers.tuning.control import control_row

    store = LineStore(line, context, lake, compute)
    population = archive(store)
    ranked = RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts())
    unsound = objections(late_verdicts(store, "benchmark_runs", "champion"))
    holder = ranked.rows[champion_after(ranked, champion.to_dicts(), set(unsound))]
    last = preceding(store.cycle)
    held = last is not None and store.lake.record(line.name, CONTROL.name, last) is not None
    before = store.lake.read(line.name, CONTROL.name, last).to_dicts() if held else []
    row = control_row(
        open_workspace(store, population),
        holder,
        sound_runs(store, population, benchmark_runs),
        variants["variant_id"].to_list(),
        compute.executor(),
        cycle=store.cycle,
        before=before[0] if before else None,
        say=store.log,
    )
    shown = ("options", "ratio", "champion_ratio", "settings")
    store.tell({name: row[name] for name in shown} if row else {})
    return CONTROL.frame([row] if row else [])
