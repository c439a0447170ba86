"""Experiments: designs through the multi-fidelity schedule, low for everyone, medium and high for the best by consensus rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from assets.designs.line import line, so_far
from assets.store import LineStore
from evolake.designs.evolution.scoring import consensus_of
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import EXPERIMENTS
from resources.compute import ComputeResource
from resources.jail import JailResource

if TYPE_CHECKING:
    from evolake.designs.evolution.population import Population


def run_fidelity(store: LineStore, compute: ComputeResource, population: Population, ids: Sequence[str], fidelity: Any) -> list[dict[str, Any]]:
    """Rows of EXPERIMENTS of the designs `ids` at one fidelity; each goes on from what it has solved before."""
    from evolake.designs.evolution.experiments import Job, run_jobs

    settings = store.settings
    jobs = [
        Job(
            design_id, store.text(population.design(design_id)["traced_sha"]), fidelity, store.cycle, settings.profile, settings.seed,
            settings.of(DesignsSettings), tuple(population.experiment_rows([design_id])),
        )
        for design_id in ids
    ]
    return run_jobs(compute.executor(), jobs, on_done=lambda job, rows: store.log(f"{fidelity} {job.design_id[:12]}: {_told(rows)}"))


@line.asset(schema=EXPERIMENTS, kinds={"torch"})
def experiments(store: LineStore, compute: ComputeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Low fidelity: every accepted design that has not been measured yet, one row a size of instances."""
    population = so_far(store, "candidates")
    rows = run_fidelity(store, compute, population, population.unmeasured(), "low")
    store.tell(_summary(rows, store.settings.profile) | {"candidates": candidates.height})
    return EXPERIMENTS.frame(rows)


@line.asset(deps=["experiments", "objectives", "candidates"], schema=EXPERIMENTS, kinds={"torch"})
def promoted_experiments(store: LineStore, compute: ComputeResource, jail: JailResource, consensus_ranking: pl.DataFrame) -> pl.DataFrame:
    """Medium fidelity for the top half by consensus rank, then, ranked again with those results, high for the top tenth."""
    from evolake.designs.evolution.schedule import promoted

    settings = store.settings.of(DesignsSettings)
    population = so_far(store, "candidates", "experiments", "objectives")
    order = consensus_ranking.sort("rank")["design_id"].to_list()
    medium = run_fidelity(store, compute, population, _new_at(population, promoted(order, "medium", settings), "medium"), "medium")
    population = population.add(experiments=medium)
    order = [str(name) for name in consensus_of(jail.open(), population, store.cycle, "medium").order]
    high = run_fidelity(store, compute, population, _new_at(population, promoted(order, "high", settings), "high"), "high")
    rows = medium + high
    store.tell(_summary(rows, store.settings.profile) | {"medium_rows": len(medium), "high_rows": len(high)})
    return EXPERIMENTS.frame(rows)


def _new_at(population: Population, ids: Sequence[str], fidelity: str) -> list[str]:
    """Those of `ids` that have no row at this fidelity: what was measured stays measured."""
    there = set(population.experiments.filter(pl.col("fidelity") == fidelity)["design_id"].to_list())
    return [design_id for design_id in ids if design_id not in there]


def _summary(rows: Sequence[dict[str, Any]], profile: str) -> dict[str, Any]:
    """Metadata: how much was run, and at what sizes; reduced profiles say so."""
    solved = [row["N"] for row in rows if row["unsolved_fraction"] < 0.5]
    return {
        "designs": len({row["design_id"] for row in rows}), "largest_n_solved": max(solved, default=0), "profile": profile,
        "steps": sum(row["steps_run"] for row in rows), "cpu_s": round(sum(row["cpu_s"] for row in rows), 2),
        "timed_out": sum(row["timed_out"] for row in rows),
    }


def _told(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "nothing left to run"
    last = rows[-1]
    return f"N={last['N']} {'solved' if last['unsolved_fraction'] < 0.5 else 'not solved'}, median step {last['median_step']}"
