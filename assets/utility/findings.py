"""The study's cells, one per arm and seed, as many seeds as the settings say when definitions load, each
trained and evaluated (one that was killed continues after its last step, one that is there is read); and what
is found over all of them, once every cell has passed its checks."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.predicates import once, rows_check
from assets.shown import note, shown
from assets.study import Study
from evolake import settings as settings_module
from evolake.lake import TableSchema
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import ARMS, COMPARISONS, CURVES, FIGURES, LINE, REPLIES, STUDY, SUMMARY, cell_of
from resources.lake import LakeResource

study = Study(
    LINE,
    "What training on seeds, on evolved families and on both is worth to a model, at equal steps, "
    "instances and tokens.",
    owners=("team:evolake",),
    cells=tuple(
        cell_of(arm, seed) for seed in range(settings_module.load().of(UtilitySettings).seeds) for arm in ARMS
    ),
)


@study.setup_asset(name="study", schema=STUDY, kinds={"bubblewrap"})
def record(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Sizes and policy; published next to them, problems by arm and lineage, drawn in the jail from the
    families of the last finished cycle."""
    from evolake.utility.running import prepare, record_of

    lake.hold(study.name, context.run.run_id)
    settings = lake.settings()
    seeds = range(settings.of(UtilitySettings).seeds)
    prepared = prepare(settings, lake.open(), list(ARMS), seeds, context.run.run_id)
    context.add_output_metadata(
        {
            "study_sha": prepared.sha,
            "policy": prepared.policy,
            "problems": len(prepared.problems),
            "cells": len(study.cells),
            "notes": "; ".join(prepared.notes),
        }
    )
    return STUDY.frame([record_of(prepared, list(ARMS), seeds)])


@study.cell_asset(schema=REPLIES, kinds={"torch"}, ins={"record": dg.AssetIn(key=study.key("study"))})
def replies(context: dg.AssetExecutionContext, lake: LakeResource, record: pl.DataFrame) -> pl.DataFrame:
    """Every reply of every evaluation; the steps of the training are published next to them."""
    from evolake.prompts.policies.registry import open_policy
    from evolake.utility.cells import is_finished, journal_of, publish_cell, run_cell
    from evolake.utility.drawing import policy_settings
    from evolake.utility.running import make_cell, prepare

    name, store, settings = context.partition_key, lake.open(), lake.settings()
    lake.hold(study.name, context.run.run_id)
    current = prepare(
        settings,
        store,
        record["arms"].to_list()[0] or list(ARMS),
        record["seeds"].to_list()[0],
        context.run.run_id,
    )
    recorded = record["study_sha"].item()
    if current.sha != recorded:
        raise dg.Failure(
            f"the settings or the families describe another study ({current.sha[:12]}) than the recorded "
            f"one ({recorded[:12]}). Materialize the group {study.setup_group!r}, then the cells again.",
            allow_retries=False,
        )
    kept = is_finished(store, name, current.sha)
    if not kept:
        cell = make_cell(current, name, settings)
        policy = open_policy(policy_settings(settings), store.root, "utility", context.run.run_id)
        publish_cell(
            store,
            cell,
            run_cell(cell, policy, journal_of(store, cell), lambda step: note(context, f"step {step}")),
            context.run.run_id,
        )
    result = store.read(LINE, "replies", name)
    last = result.filter(pl.col("step") == result["step"].max())
    shares = {str(suite): float(part["correct"].mean() or 0.0) for (suite,), part in last.group_by("suite")}  # pyright: ignore[reportArgumentType]
    details = {"kept": kept, "replies": result.height, "step": int(last["step"][0])}
    context.add_output_metadata(details | {f"correct, {suite}": value for suite, value in shares.items()})
    return result


every_problem_is_answered = rows_check(
    replies,
    "every_problem_is_answered",
    "An evaluation answers every held-out problem equally often, none of those to train on, all of one "
    "study.",
    once("step", "suite", "problem_id", "sample"),
    "suite <> 'train'",
    "samples = most",
    "studies = 1",
    "known = 1",
    rows="""
SELECT r.*, count(*) OVER (PARTITION BY r.step, r.suite, r.problem_id) AS samples,
  (SELECT max(n) FROM (SELECT count(*) AS n FROM utility.replies WHERE cycle = $cycle GROUP BY step, suite,
    problem_id)) AS most,
  (SELECT count(DISTINCT study_sha) FROM utility.replies WHERE cycle = $cycle) AS studies,
  (SELECT count(*) FROM utility.problems AS p WHERE p.problem_id = r.problem_id
    AND p.suite = r.suite) AS known
FROM utility.replies AS r WHERE r.cycle = $cycle""",
)
steps_add_up = rows_check(
    replies,
    "steps_add_up",
    "The steps of a cell are numbered without a gap, tokens and instances never fall, shares are in 0..1.",
    "step = place",
    "correct BETWEEN 0 AND 1",
    "formatted BETWEEN 0 AND 1",
    "tokens > before",
    "instances >= seen",
    rows="""
SELECT *, row_number() OVER (ORDER BY step) AS place, lag(tokens, 1, 0) OVER (ORDER BY step) AS before,
  lag(instances, 1, 0) OVER (ORDER BY step) AS seen FROM utility.steps WHERE cycle = $cycle""",
)
CELL_CHECKS = (every_problem_is_answered, steps_add_up)


CELLS = ("study", "replies")


def _finding(schema: TableSchema, description: str) -> dg.AssetsDefinition:
    """Return the asset of one table of findings."""

    @study.finding(name=schema.name, deps=CELLS, schema=schema, description=description)
    def finding(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        from evolake.utility.findings import findings_of
        from evolake.utility.running import read_study

        study.require_cells(lake.open(), CELL_CHECKS)
        stored = read_study(lake.open())
        if stored.missing:
            text = (
                f"cells of the recorded study are missing: {', '.join(stored.missing)}. Materialize the "
                f"group {study.name!r}."
            )
            raise dg.Failure(text, allow_retries=False)
        found = findings_of(stored.steps, stored.replies, stored.study["root_seed"])
        return getattr(found, schema.name)

    return finding


summary = _finding(
    SUMMARY, "Each arm at equal steps, instances and tokens, with intervals over problems and seeds."
)
comparisons = _finding(COMPARISONS, "Arms in pairs: differences, sign-flip tests with Holm's correction.")
curves = _finding(
    CURVES, "Accuracy of every evaluation; reward, length, words of self-checking and entropy of every step."
)


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
)
