"""What is found over all cells, one table per question, and what the findings must satisfy: arms were run
alike, and the tests add up. Nothing is found before every cell has passed its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from assets.pictures import shown
from assets.predicates import TOLERANCE, once, rows_check
from assets.repair.cells import study
from assets.repair.results import CELL_CHECKS
from evolake.repair.tables import COMPARISONS, CONVERGENCE, EFFORT, FIGURES, FRONTIER, ROBUSTNESS, SUMMARY
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.repair.running import Stored


CELLS = ("study", "problems", "results")


def _stored(context: dg.AssetExecutionContext, lake: LakeResource) -> Stored:
    """Return the study's rows, once they are one whole study."""
    from evolake.repair.findings import require_one_study
    from evolake.repair.report.material import require_all_cells
    from evolake.repair.running import read_study

    study.require_cells(context, lake.open(), CELL_CHECKS)
    stored = read_study(lake.open())
    require_all_cells(stored)
    require_one_study(stored.results, stored.problems)
    return stored


@study.finding(deps=CELLS, schema=SUMMARY)
def summary(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Each arm's metrics, with Wilson and bootstrap intervals."""
    from evolake.repair.statistics import summary_rows

    stored = _stored(context, lake)
    labels = dict(stored.problems.select("problem_id", "label").iter_rows())
    return SUMMARY.frame(summary_rows(stored.results, labels, stored.study["root_seed"]))


@study.finding(deps=CELLS, schema=COMPARISONS)
def comparisons(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compare the compute-matched arms in pairs, on the main benchmark: McNemar's exact test with Holm's
    correction, odds ratios, differences."""
    from evolake.repair.findings import main_of
    from evolake.repair.statistics import compare_arms

    stored = _stored(context, lake)
    return COMPARISONS.frame(compare_arms(main_of(stored.results), stored.study["root_seed"]))


@study.finding(deps=CELLS, schema=CONVERGENCE)
def convergence(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compute the share of runs solved by the end of each round."""
    from evolake.repair.statistics import convergence_rows

    stored = _stored(context, lake)
    return CONVERGENCE.frame(
        convergence_rows(stored.results, stored.study["rounds"], stored.study["root_seed"])
    )


@study.finding(deps=CELLS, schema=EFFORT)
def effort(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compute the share of runs solved with so many calls."""
    from evolake.repair.statistics import effort_rows

    stored = _stored(context, lake)
    return EFFORT.frame(effort_rows(stored.results, stored.study["candidates"] * stored.study["rounds"]))


@study.finding(deps=CELLS, schema=FRONTIER)
def frontier(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Solve rate against solver calls, and which arms dominate which."""
    from evolake.repair.statistics import frontier_rows

    return FRONTIER.frame(frontier_rows(_stored(context, lake).results))


@study.finding(deps=CELLS, schema=ROBUSTNESS)
def robustness(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Measure what each perturbation does to each arm, perturbed run against the run of its origin."""
    from evolake.repair.findings import main_of, origins, perturbed_of
    from evolake.repair.statistics import robustness_rows

    stored = _stored(context, lake)
    results = stored.results
    return ROBUSTNESS.frame(
        robustness_rows(
            main_of(results), perturbed_of(results), origins(stored.problems), stored.study["root_seed"]
        )
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
    once("suite", "variation", "arm"),
    "runs = max(runs) OVER (PARTITION BY suite, variation)",
    "runs = sat_runs + unsat_runs",
    "solved = sat_certified + unsat_certified",
    "rate BETWEEN 0 AND 1",
)
tests_add_up = rows_check(
    comparisons,
    "tests_add_up",
    "Two arms are compared once per unit, the four counts make all pairs, and no adjusted p-value is the "
    "smaller.",
    once("unit", "first", "second"),
    '"both" + only_first + only_second + neither = pairs',
    f"abs(difference - (only_first - only_second) / pairs) <= {TOLERANCE}",
    "p_holm >= p_value",
    "p_holm BETWEEN 0 AND 1",
)
