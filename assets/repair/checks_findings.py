"""What the findings must satisfy: arms were run alike, and the tests add up."""

from __future__ import annotations

import polars as pl

from assets.checks import suite_check
from assets.repair.findings import comparisons, summary
from evolake.lake import Lake


def _alike(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    place = ["suite", "variation"]
    return frame.with_columns(
        key=pl.concat_str([*place, "arm"], separator=":"), most_runs=pl.col("runs").max().over(place),
        labelled=pl.col("sat_runs") + pl.col("unsat_runs"), certified=pl.col("sat_certified") + pl.col("unsat_certified"),
    )


def _paired(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    return frame.with_columns(
        key=pl.concat_str(["unit", "first", "second"], separator=":"),
        counted=pl.col("both") + pl.col("only_first") + pl.col("only_second") + pl.col("neither"),
        difference_counted=(pl.col("only_first") - pl.col("only_second")) / pl.col("pairs"),
    ).with_columns(error=(pl.col("difference") - pl.col("difference_counted")).abs())


arms_were_run_alike = suite_check(
    summary, "arms_were_run_alike", "Within a suite and variation every arm has as many runs; rates lie in 0..1 and their parts add up.", None,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnPairValuesToBeEqual(column_A="runs", column_B="most_runs"),
        gxe.ExpectColumnPairValuesToBeEqual(column_A="runs", column_B="labelled"),
        gxe.ExpectColumnPairValuesToBeEqual(column_A="solved", column_B="certified"),
        gxe.ExpectColumnValuesToBeBetween(column="rate", min_value=0, max_value=1), gxe.ExpectColumnValuesToNotBeNull(column="rate"),
    ],
    """
SELECT suite, variation, arm, runs, solved, rate FROM repair.summary
QUALIFY runs <> max(runs) OVER (PARTITION BY suite, variation) OR runs <> sat_runs + unsat_runs OR solved <> sat_certified + unsat_certified
ORDER BY suite, variation, arm""",
    prepare=_alike,
)
tests_add_up = suite_check(
    comparisons, "tests_add_up", "Two arms are compared once a unit, the four counts make all pairs, and no adjusted p-value is the smaller.", None,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnPairValuesToBeEqual(column_A="counted", column_B="pairs"),
        gxe.ExpectColumnValuesToBeBetween(column="error", min_value=0, max_value=1e-9),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="p_holm", column_B="p_value", or_equal=True),
        gxe.ExpectColumnValuesToBeBetween(column="p_holm", min_value=0, max_value=1),
    ],
    """
SELECT unit, first, second, pairs, p_value, p_holm FROM repair.comparisons
WHERE "both" + only_first + only_second + neither <> pairs OR p_holm < p_value ORDER BY unit, first, second""",
    prepare=_paired,
)
