"""The tunings that `evolake solvers tune` ran: what came of each, its settings and the runs that decided. All
is made from the journal of runs in the lake, so that a backfill costs little; what was killed continues."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.predicates import rows_check
from assets.shown import note
from assets.study import Study
from evolake.solvers.tuning.tables import LINE, RUNS, SETTINGS, VERDICTS
from resources.lake import LakeResource

study = Study(
    LINE,
    "Options that make a solver faster on a user's formulas, by `evolake solvers tune`.",
    owners=("team:evolake",),
)
requested = study.requested("What was tuned. External: `evolake solvers tune` writes it.")


@study.cell_asset(deps=[requested], schema=VERDICTS, kinds={"bubblewrap"})
def verdicts(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Race the solver's settings on the first part of the formulas, and let the best meet the default on the
    other part, in the jail; runs that were made are read."""
    from evolake.solvers.tuning.rows import tuned, verdict_row

    key = context.partition_key
    lake.hold(study.name, context.run.run_id)
    row = verdict_row(lake.open(), key, tuned(lake.open(), key, lambda text: note(context, text)))
    context.add_output_metadata({"verdict": row["verdict"], "options": " ".join(row["options"])})
    return VERDICTS.frame([row])


@study.cell_asset(schema=SETTINGS)
def settings(context: dg.AssetExecutionContext, lake: LakeResource, verdicts: pl.DataFrame) -> pl.DataFrame:
    """Every setting that was tried, and why it left the race."""
    from evolake.solvers.tuning.rows import rows_of

    return SETTINGS.frame(rows_of(lake.open(), verdicts, "settings_sha"))


@study.cell_asset(schema=RUNS)
def runs(context: dg.AssetExecutionContext, lake: LakeResource, verdicts: pl.DataFrame) -> pl.DataFrame:
    """Every run of the duel on unseen formulas."""
    from evolake.solvers.tuning.rows import rows_of

    return RUNS.frame(rows_of(lake.open(), verdicts, "runs_sha"))


verdicts_rest_on_runs = rows_check(
    runs,
    "verdicts_rest_on_runs",
    "The default and the setting ran each unseen formula, and a better one solved no fewer.",
    "runs = 2 * unseen",
    "verdict <> 'better' OR solved_tuned >= solved_default",
    "verdict <> 'better' OR ratio_low > 1",
    rows="""
SELECT v.tuning, v.verdict, v.unseen, v.solved_default, v.solved_tuned, v.ratio_low,
  (SELECT count(*) FROM tunings.runs AS r WHERE r.cycle = $cycle) AS runs
FROM tunings.verdicts AS v WHERE v.cycle = $cycle""",
)
settings_are_whole = rows_check(
    settings,
    "settings_are_whole",
    "Each setting once, and the best one among them with all formulas of the race.",
    "settings = listed",
    "verdict = 'none ahead' OR whole > 0",
    rows="""
SELECT v.tuning, v.settings, v.verdict,
  (SELECT count(*) FROM tunings.settings AS s WHERE s.cycle = $cycle) AS listed,
  (SELECT count(*) FROM tunings.settings AS s WHERE s.cycle = $cycle AND s.left_because = '') AS whole
FROM tunings.verdicts AS v WHERE v.cycle = $cycle""",
)
