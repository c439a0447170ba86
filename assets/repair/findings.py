"""What is found over all cells, one table per question. Nothing is found before every cell has passed its
checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from assets.pictures import shown
from assets.repair.cells import study
from assets.repair.checks import CELL_CHECKS
from evolake.repair.tables import COMPARISONS, CONVERGENCE, EFFORT, FIGURES, FRONTIER, ROBUSTNESS, SUMMARY
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.repair.execution.running import Stored

CELLS = ("study", "problems", "results")


def _stored(context: dg.AssetExecutionContext, lake: LakeResource) -> Stored:
    """Return the study's rows, once they are one whole study."""
    from evolake.repair.execution.running import read_study
    from evolake.repair.report.data import require_all_cells
    from evolake.repair.statistics.findings import require_one_study

    study.require_cells(context, CELL_CHECKS)
    stored = read_study(lake.open())
    require_all_cells(stored)
    require_one_study(stored.results, stored.problems)
    return stored


@study.finding(deps=CELLS, schema=SUMMARY)
def summary(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Each arm's metrics, with Wilson and bootstrap intervals."""
    from evolake.repair.statistics.summary import summary_rows

    stored = _stored(context, lake)
    labels = dict(stored.problems.select("problem_id", "label").iter_rows())
    return SUMMARY.frame(summary_rows(stored.results, labels, stored.study["root_seed"]))


@study.finding(deps=CELLS, schema=COMPARISONS)
def comparisons(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compare the compute-matched arms in pairs, on the main benchmark: McNemar's exact test with Holm's
    correction, odds ratios, differences."""
    from evolake.repair.statistics.findings import main_of
    from evolake.repair.statistics.pairs import compare_arms

    stored = _stored(context, lake)
    return COMPARISONS.frame(compare_arms(main_of(stored.results), stored.study["root_seed"]))


@study.finding(deps=CELLS, schema=CONVERGENCE)
def convergence(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compute the share of runs solved by the end of each round."""
    from evolake.repair.statistics.summary import convergence_rows

    stored = _stored(context, lake)
    return CONVERGENCE.frame(
        convergence_rows(stored.results, stored.study["rounds"], stored.study["root_seed"])
    )


@study.finding(deps=CELLS, schema=EFFORT)
def effort(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Compute the share of runs solved with so many calls."""
    from evolake.repair.statistics.summary import effort_rows

    stored = _stored(context, lake)
    return EFFORT.frame(effort_rows(stored.results, stored.study["candidates"] * stored.study["rounds"]))


@study.finding(deps=CELLS, schema=FRONTIER)
def frontier(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Solve rate against solver calls, and which arms dominate which."""
    from evolake.repair.statistics.summary import frontier_rows

    return FRONTIER.frame(frontier_rows(_stored(context, lake).results))


@study.finding(deps=CELLS, schema=ROBUSTNESS)
def robustness(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Measure what each perturbation does to each arm, perturbed run against the run of its origin."""
    from evolake.repair.statistics.findings import main_of, origins, perturbed_of
    from evolake.repair.statistics.robustness import robustness_rows

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
    from evolake.repair.report.material import study_figures
    from evolake.repair.statistics.findings import Findings

    drawn = study_figures(Findings(summary, comparisons, convergence, effort, frontier, robustness))
    context.add_output_metadata({name: shown(png, name) for name, png in drawn.items()})
    blobs = lake.open().blobs
    return FIGURES.frame({"name": name, "png_sha": blobs.put(png)} for name, png in drawn.items())
