"""What every cell works on: the benchmark, and the record of budget and proposer that distinguishes this
study from another."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.package import limit_pool
from assets.repair.cells import study
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import PROBLEMS, STUDY
from resources.compute import ComputeResource
from resources.lake import LakeResource


@study.setup_asset(schema=PROBLEMS, kinds={"z3"})
def problems(context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource) -> pl.DataFrame:
    """Create main benchmark, perturbations and transfer; every label is given by two certifiers that
    agree."""
    from evolake.repair.benchmark.build import benchmark_rows

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
    from evolake.repair.execution.reachable import require_endpoint
    from evolake.repair.execution.study import entries_of, pick_seeds, study_of

    settings = lake.settings()
    check_backend(settings)
    require_endpoint(settings)
    result = study_of(settings, entries_of(problems.to_dicts()))
    context.add_output_metadata(
        {"study_sha": result.sha, "backend": result.backend, "model": result.model, "cells": len(study.cells)}
    )
    sizes = settings.of(RepairSettings)
    return STUDY.frame([result.row(sizes.arms, pick_seeds(sizes.seeds))])
