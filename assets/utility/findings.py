"""What is found over all cells. Nothing is found before every cell has passed its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from assets.pictures import shown
from assets.predicates import once, rows_check
from assets.utility.cells import study
from assets.utility.results import CELL_CHECKS
from evolake.utility.tables import COMPARISONS, CURVES, FIGURES, SUMMARY
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.utility.findings import Findings

CELLS = ("study", "replies")


def _found(context: dg.AssetExecutionContext, lake: LakeResource) -> Findings:
    from evolake.utility.findings import findings_of
    from evolake.utility.running import read_study

    study.require_cells(context, lake.open(), CELL_CHECKS)
    stored = read_study(lake.open())
    if stored.missing:
        text = (
            f"cells of the recorded study are missing: {', '.join(stored.missing)}. Materialize the group "
            f"{study.name!r}."
        )
        raise dg.Failure(text, allow_retries=False)
    return findings_of(stored.steps, stored.replies, stored.study["root_seed"])


@study.finding(deps=CELLS, schema=SUMMARY)
def summary(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Each arm at equal steps, instances and tokens, with intervals over problems and seeds."""
    return _found(context, lake).summary


@study.finding(deps=CELLS, schema=COMPARISONS)
def comparisons(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Arms in pairs: differences, sign-flip tests with Holm's correction."""
    return _found(context, lake).comparisons


@study.finding(deps=CELLS, schema=CURVES)
def curves(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Accuracy of every evaluation; reward, length, words of self-checking and entropy of every step."""
    return _found(context, lake).curves


@study.finding(schema=FIGURES, kinds={"matplotlib"})
def figures(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    summary: pl.DataFrame,
    comparisons: pl.DataFrame,
    curves: pl.DataFrame,
) -> pl.DataFrame:
    """Draw the study's figures, as blobs and in this asset's metadata."""
    from evolake.report.figures import draw_figures
    from evolake.utility.findings import Findings
    from evolake.utility.report.page import FIGURES as PACKAGE

    drawn = draw_figures(PACKAGE, Findings(summary, comparisons, curves))
    context.add_output_metadata({name: shown(png, name) for name, png in drawn.items()})
    blobs = lake.open().blobs
    return FIGURES.frame({"name": name, "png_sha": blobs.put(png)} for name, png in drawn.items())


tests_add_up = rows_check(
    comparisons,
    "tests_add_up",
    "Two arms are compared once per matching and suite, and no adjusted p-value is the smaller.",
    once("matching", "suite", "first", "second"),
    "difference BETWEEN low - 1e-9 AND high + 1e-9",
    "p_holm >= p_value",
    "p_holm BETWEEN 0 AND 1",
)
