"""Experiments: designs through the multi-fidelity schedule, here at low fidelity, which is for everyone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.designs.line import line, so_far
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import EXPERIMENTS
from evolake.designs.work.rows import median_work
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
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


@line.asset(schema=EXPERIMENTS, kinds={"torch"})
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
