"""The study's cells, one per arm and seed as the settings say when definitions load: all problems under one
arm and one seed (a cell that the lake holds already is read, so a backfill continues where it was cut off);
and what is found over all of them, one table per question, once every cell has passed its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.predicates import once, rows_check
from assets.shown import shown
from assets.study import Study
from evolake import settings as settings_module
from evolake.lake import TableSchema
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import (
    COMPARISONS,
    CONVERGENCE,
    EFFORT,
    FIGURES,
    FRONTIER,
    LINE,
    PROBLEMS,
    RESULTS,
    ROBUSTNESS,
    STUDY,
    SUMMARY,
    cell_of,
)
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.repair.running import Stored


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
    from evolake.repair.cells import is_finished, publish_cell, run_cell

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
    from evolake.repair.cells import entries_of, study_of

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


CERTIFICATES = """
SELECT r.problem_id, r.solved, r.claim, r.certified_status, p.label, r.first_certified_call,
  count(a.problem_id) AS certificates
FROM repair.results AS r JOIN repair.problems AS p USING (problem_id)
LEFT JOIN repair.attempts AS a ON a.cycle = r.cycle AND a.problem_id = r.problem_id
  AND a.verdict = 'certified' AND a.claim = r.certified_status
WHERE r.cycle = $cycle GROUP BY ALL"""
SOUND = (
    "NOT solved OR (certificates = 1 AND certified_status = label AND claim = label AND "
    "first_certified_call IS NOT NULL)",
    "solved OR (certificates = 0 AND certified_status IS NULL AND first_certified_call IS NULL)",
)
BUDGETS = """
SELECT r.problem_id, r.arm, r.rounds, r.calls, r.solver_calls, count(a.problem_id) AS attempts,
  sum(a.solver_calls) AS solver_calls_made,
    CASE WHEN r.arm = 'one_shot' THEN 1 ELSE s.candidates * CASE WHEN r.solved THEN r.rounds
      ELSE s.rounds END END AS calls_due,
    s.candidates * s.rounds AS budget, r.solved, r.budget_exceeded
FROM repair.results AS r CROSS JOIN repair.study AS s LEFT JOIN repair.attempts AS a ON a.cycle = r.cycle
  AND a.problem_id = r.problem_id
WHERE r.cycle = $cycle GROUP BY ALL"""
KEPT = (
    "calls = calls_due AND attempts = calls AND solver_calls_made = solver_calls AND calls <= budget AND "
    "budget_exceeded = (calls > budget)"
)


labels_are_certified_twice = rows_check(
    problems,
    "labels_are_certified_twice",
    "Each problem is there once, two methods gave its label, a perturbation has its origin's.",
    once("problem_id"),
    "label IN ('sat', 'unsat')",
    "len(list_distinct(certified_by)) = 2",
    "label = label_of_origin",
    rows="""
SELECT p.problem_id, p.label, p.certified_by, o.label AS label_of_origin FROM repair.problems AS p
LEFT JOIN (SELECT problem_id, any_value(label) AS label FROM repair.problems GROUP BY ALL) AS o
  ON o.problem_id = p.base_id""",
)
every_problem_was_run_once = rows_check(
    results,
    "every_problem_was_run_once",
    "A cell has one row for each problem of the benchmark, all of one study.",
    "runs = 1",
    "known = 1",
    "studies = 1",
    rows="""
SELECT problem_id, count(r.arm) AS runs, count(DISTINCT p.problem_id) AS known,
  (SELECT count(DISTINCT study_sha) FROM repair.results WHERE cycle = $cycle) AS studies
FROM repair.problems AS p FULL JOIN (SELECT * FROM repair.results WHERE cycle = $cycle) AS r
  USING (problem_id) GROUP BY ALL""",
)
no_solve_without_certificate = rows_check(
    results,
    "no_solve_without_certificate",
    "Each solved row has exactly one certified attempt, of the problem's certified label; no unsolved row "
    "has any.",
    *SOUND,
    rows=CERTIFICATES,
)
budget_is_equal = rows_check(
    results,
    "budget_is_equal",
    "A matched arm makes K calls per round, all K x R where it does not solve, none beyond; one_shot "
    "makes one. Calls and solver calls are those of the attempts on record.",
    KEPT,
    rows=BUDGETS,
)
attempts_are_known_once = rows_check(
    results,
    "attempts_are_known_once",
    "Every call is one attempt, identified by problem, round and candidate.",
    once("problem_id", "round", "candidate"),
    "attempts = calls",
    rows="""
SELECT a.problem_id, a.round, a.candidate, count(*) OVER () AS attempts,
  (SELECT sum(calls) FROM repair.results WHERE cycle = $cycle) AS calls
FROM repair.attempts AS a WHERE a.cycle = $cycle""",
)
CELL_CHECKS = (
    every_problem_was_run_once,
    no_solve_without_certificate,
    budget_is_equal,
    attempts_are_known_once,
)


CELLS = ("study", "problems", "results")


def _stored(context: dg.AssetExecutionContext, lake: LakeResource) -> Stored:
    """Return the study's rows, once they are one whole study."""
    from evolake.repair.findings import require_one_study
    from evolake.repair.report.material import require_all_cells
    from evolake.repair.running import read_study

    study.require_cells(lake.open(), CELL_CHECKS)
    stored = read_study(lake.open())
    require_all_cells(stored)
    require_one_study(stored.results, stored.problems)
    return stored


def _finding(schema: TableSchema, description: str) -> dg.AssetsDefinition:
    """Return the asset of one table of findings."""

    @study.finding(name=schema.name, deps=CELLS, schema=schema, description=description)
    def finding(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        from evolake.repair.findings import found

        stored = _stored(context, lake)
        return found(schema, stored.results, stored.problems, stored.study)

    return finding


summary = _finding(SUMMARY, "Each arm's metrics, with Wilson and bootstrap intervals.")
comparisons = _finding(
    COMPARISONS,
    "Compare the compute-matched arms in pairs, on the main benchmark: McNemar's exact test with Holm's "
    "correction, odds ratios, differences.",
)
convergence = _finding(CONVERGENCE, "Compute the share of runs solved by the end of each round.")
effort = _finding(EFFORT, "Compute the share of runs solved with so many calls.")
frontier = _finding(FRONTIER, "Solve rate against solver calls, and which arms dominate which.")
robustness = _finding(
    ROBUSTNESS,
    "Measure what each perturbation does to each arm, perturbed run against the run of its origin.",
)


@study.finding(schema=FIGURES, kinds={"matplotlib"})
def figures(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    summary: pl.DataFrame,
    comparisons: pl.DataFrame,
    convergence: pl.DataFrame,
    effort: pl.DataFrame,
    frontier: pl.DataFrame,
    robustness: pl.DataFrame,
) -> pl.DataFrame:
    """Draw the study's figures, as blobs and in this asset's metadata."""
    from evolake.repair.findings import Findings
    from evolake.repair.report.material import study_figures

    drawn = study_figures(Findings(summary, comparisons, convergence, effort, frontier, robustness))
    context.add_output_metadata({name: shown(png, name) for name, png in drawn.items()})
    blobs = lake.open().blobs
    return FIGURES.frame({"name": name, "png_sha": blobs.put(png)} for name, png in drawn.items())


arms_were_run_alike = rows_check(
    summary,
    "arms_were_run_alike",
    "Within a suite and variation every arm has as many runs; rates are in 0..1 and their parts add up.",
)
tests_add_up = rows_check(
    comparisons,
    "tests_add_up",
    "Two arms are compared once per unit, the four counts make all pairs, and no adjusted p-value is the "
    "smaller.",
)
