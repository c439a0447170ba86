"""The design of the study: its cells, one per arm and seed, as many seeds as the settings say when
definitions load; and what every cell works on: the problems, and the record that distinguishes this study
from another."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.package import limit_pool
from assets.study import Study
from evolake import settings as settings_module
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import ARMS, LINE, STUDY, cell_of
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
    limit_pool(context.instance, study.pool)
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
