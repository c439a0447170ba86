"""The benchmark of a cycle (what is run, under which limits, and which earlier runs may be compared with
it), and the ranking by the consensus of the objectives that vote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import polars as pl

from evolake.objectives.score import Objective
from evolake.search.mcgs import SearchGraph
from evolake.solvers.evolution.population import Population
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.measurement.benchmark import MeasuringPlan, Progress, plan_jobs, run_jobs
from evolake.solvers.objectives.portfolio import rank_variants
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import CLOCK, RUNS


def benchmark(
    workspace: Workspace,
    population: Population,
    fresh: Sequence[Mapping[str, Any]],
    executor: Executor,
    *,
    cycle: str,
    on_progress: Progress | None = None,
) -> pl.DataFrame:
    """Return rows of RUNS on the suite that variants are bred on, of the accepted variants `fresh` and of
    live ones that have no runs of it under today's limits."""
    settings = workspace.settings
    suite = workspace.suite("train")
    compared = current_runs(
        population, RUNS.empty(), settings, asked={(item.name, item.sha) for item in suite.instances}
    )
    have = set(compared["variant_id"].to_list())
    wanted = {
        row["variant_id"]: row
        for row in [*population.rows("accepted", "champion"), *fresh]
        if row["variant_id"] not in have
    }
    champions = frozenset(filter(None, [population.champion_id]))
    jobs = plan_jobs(
        {name: workspace.program(row) for name, row in wanted.items()},
        suite,
        measuring_plan(workspace, cycle, champions),
        cycle=cycle,
    )
    return run_jobs(jobs, executor, journal=workspace.journal("benchmark", cycle), on_progress=on_progress)


def measuring_plan(
    workspace: Workspace, cycle: str, champions: frozenset[str] = frozenset(), repeats: int = 1
) -> MeasuringPlan:
    """Return how the profile measures. A proof of a formula that was checked before is not checked again."""
    limits = workspace.limits
    return MeasuringPlan(
        limits.run,
        proof_share=workspace.settings.proof_share,
        champions=champions,
        repeats=repeats,
        proof_limits=limits.proof,
        verdicts=workspace.proofs,
        draw=workspace.key(cycle, "benchmark"),
    )


def current_runs(
    population: Population,
    fresh: pl.DataFrame,
    settings: SolversSettings,
    *,
    asked: set[tuple[str, str]] | None = None,
) -> pl.DataFrame:
    """Return runs that may be compared: those of live variants under today's limits and conditions, and the
    fresh ones.

    asked: (name, sha256) of the formulas that are to be measured now; None: those of the fresh runs, if there
    are any.
    """
    kept = population.runs.filter(
        pl.col("variant_id").is_in(population.live_ids())
        & (pl.col("timeout_s") == settings.timeout_s)
        & (pl.col("memory_mb") == settings.memory_mb)
    )
    kept = kept.filter(~pl.col("variant_id").is_in(_measured_otherwise(kept, settings)))
    formulas = _formulas(fresh) if asked is None else asked
    if formulas and not kept.is_empty() and _formulas(kept) != formulas:
        kept = kept.clear()  # another suite, or another size of it: old runs do not compare
    return pl.concat([kept, fresh.filter(~pl.col("variant_id").is_in(kept["variant_id"].unique().to_list()))])


def _formulas(runs: pl.DataFrame) -> set[tuple[str, str]]:
    return set(runs.select("instance", "formula_sha").unique().iter_rows())


def _measured_otherwise(runs: pl.DataFrame, settings: SolversSettings) -> list[str]:
    """Variants whose runs do not compare with today's: those with unchecked answers if all are checked now,
    and those of which the clock cut a run short, so that they are measured again."""
    unchecked = (
        (pl.col("proof_status") == "unchecked") & (pl.col("status") == "unsat") & (settings.proof_share == 1)
    )
    cut = pl.col("status") == CLOCK
    return runs.filter(unchecked | cut)["variant_id"].unique().to_list()


def voting(population: Population, new: pl.DataFrame) -> list[Objective]:
    """Return all objectives that are in force. new: the cycle's rows of OBJECTIVES, which hold where the
    population has others of the same id."""
    rows = {row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new.to_dicts()]}
    return [
        Objective(row["objective_id"], row["source"]) for row in rows.values() if row["state"] == "accepted"
    ]


def rank(
    population: Population,
    new_objectives: pl.DataFrame,
    scores: pl.DataFrame,
    metrics: pl.DataFrame,
    derived: Sequence[Mapping[str, Any]],
    *,
    cycle: str,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of RANKING, best first, and the weights of the objectives."""
    objectives = {
        row["objective_id"]: row for row in [*population.objectives.to_dicts(), *new_objectives.to_dicts()]
    }
    places, ranked = rank_variants(
        scores,
        {name: row["created_round"] for name, row in objectives.items()},
        int(cycle),
        {name: row["multiplier"] for name, row in objectives.items() if name in set(scores["objective_id"])},
    )
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    order = [item.variant_id for item in places]
    edges = [
        (row["parent_id"], row["child_id"], row["weight"])
        for row in [*population.derivations.to_dicts(), *derived]
    ]
    nodes = list(
        dict.fromkeys(
            [
                *population.variants["variant_id"].to_list(),
                *order,
                *(name for edge in edges for name in edge[:2]),
            ]
        )
    )
    bounds = {str(item.design_id): item for item in SearchGraph(nodes, edges).ucb(order)}
    rows = [
        {
            "variant_id": item.variant_id,
            "cycle": cycle,
            "rank": item.rank,
            "consensus": item.consensus,
            "visits": bounds[item.variant_id].visits,
            "ucb": bounds[item.variant_id].ucb,
            "solved": measured[item.variant_id]["solved"],
            "par2": measured[item.variant_id]["par2"],
            "wrong": measured[item.variant_id]["wrong"],
        }
        for item in places
    ]
    return rows, ranked.weight_rows(cycle, objectives)
