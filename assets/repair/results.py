"""The cells: all problems under one arm and one seed. A cell that the lake holds already is read, so a
backfill continues where it was cut off."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

import assets.repair.setup  # noqa: F401  # pyright: ignore[reportUnusedImport]  (what is read is defined first)
from assets.repair.cells import study
from evolake.repair.tables import RESULTS
from resources.compute import ComputeResource
from resources.lake import LakeResource


@study.cell_asset(schema=RESULTS, kinds={"z3"}, ins={"record": dg.AssetIn(key=study.key("study"))})
def results(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    problems: pl.DataFrame,
    record: pl.DataFrame,
) -> pl.DataFrame:
    """One row per problem; attempts and calls next to it. A model's calls are in the call cache, so a cell
    that was killed pays for none twice."""
    from evolake.repair.execution.cells import is_finished, publish_cell, run_cell

    cell, store = context.partition_key, lake.open()
    lake.hold(study.name, context.run.run_id)
    current = _current(lake, problems, record)
    if is_finished(store, cell, current):
        result = store.read(study.name, "results", cell)
        context.add_output_metadata(_result_metadata(result) | {"kept": True})
        return result
    rows = run_cell(
        current, cell, lake.settings(), store.root, context.run.run_id, executor=compute.executor()
    )
    publish_cell(store, cell, rows, context.run.run_id)
    result = RESULTS.frame(rows.results)
    context.add_output_metadata(_result_metadata(result) | {"kept": False, "attempts": len(rows.attempts)})
    return result


def _current(lake: LakeResource, problems: pl.DataFrame, record: pl.DataFrame) -> Any:
    """Return the study that the settings describe, which must be the recorded one: cells of two studies are
    never mixed."""
    from evolake.repair.execution.study import entries_of, study_of

    result, recorded = study_of(lake.settings(), entries_of(problems.to_dicts())), record["study_sha"].item()
    if result.sha != recorded:
        raise dg.Failure(
            f"the settings describe another study ({result.sha[:12]}) than the recorded one "
            f"({recorded[:12]}): budget, proposer, seed or sizes have changed. Materialize the group "
            f"{study.setup_group!r}, then the cells again.",
            allow_retries=False,
        )
    return result


def _result_metadata(result: pl.DataFrame) -> dict[str, Any]:
    main = result.filter((pl.col("suite") == "lia") & (pl.col("variation") == "none"))
    return {
        "solved": int(main["solved"].sum()),
        "problems": main.height,
        "calls": int(result["calls"].sum()),
        "solver_calls": int(result["solver_calls"].sum()),
        "backend": result["backend"][0],
        "model": result["model"][0],
    }
