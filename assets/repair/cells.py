"""The design of the study: its cells, one per arm and seed, the arms and as many seeds as the settings say
when definitions load; and what every cell works on: the benchmark, and the record that distinguishes this
study from another."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.package import limit_pool
from assets.study import Study
from evolake import settings as settings_module
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import LINE, PROBLEMS, STUDY, cell_of
from resources.compute import ComputeResource
from resources.lake import LakeResource

_sizes = settings_module.load().of(RepairSettings)
study = Study(
    LINE,
    "Solver-grounded repair against mere attempts: five arms, others opt-in, matched budgets.",
    owners=("team:evolake",),
    cells=tuple(cell_of(arm, seed) for seed in range(_sizes.seeds) for arm in _sizes.arms),
)


@study.setup_asset(schema=PROBLEMS, kinds={"z3"})
def problems(context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource) -> pl.DataFrame:
    """Create main benchmark, perturbations and transfer; every label is given by two certifiers that
    agree."""
    from evolake.repair.benchmark import benchmark_rows

    lake.hold(study.name, context.run.run_id)
    limit_pool(context.instance, study.pool)
    settings = lake.settings()
    result = PROBLEMS.frame(
        benchmark_rows(settings.of(RepairSettings), settings.seed, executor=compute.executor())
    )
    counts = {
        f"{suite}, {variation}": rows.height
        for (suite, variation), rows in result.group_by("suite", "variation", maintain_order=True)
    }
    context.add_output_metadata(counts | {"satisfiable": result.filter(pl.col("label") == "sat").height})
    return result


@study.setup_asset(name="study", schema=STUDY)
def record(context: dg.AssetExecutionContext, lake: LakeResource, problems: pl.DataFrame) -> pl.DataFrame:
    """Budget, proposer and root seed. Refuses a backend that lacks something or does not answer, before any
    cell is run."""
    from evolake.agents import check_backend
    from evolake.repair.cells import entries_of, pick_seeds, study_of
    from evolake.repair.running import require_endpoint

    settings = lake.settings()
    check_backend(settings)
    require_endpoint(settings)
    result = study_of(settings, entries_of(problems.to_dicts()))
    context.add_output_metadata(
        {"study_sha": result.sha, "backend": result.backend, "model": result.model, "cells": len(study.cells)}
    )
    sizes = settings.of(RepairSettings)
    return STUDY.frame([result.row(sizes.arms, pick_seeds(sizes.seeds))])
