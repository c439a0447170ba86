"""The jobs: of a line one cycle, and the seeds before the first; of a study its setup, one cell, and the
findings over all cells."""

from __future__ import annotations

import warnings

import dagster as dg

from assets.line import LINE_TAG, Line
from assets.study import Study
from resources.dagster_internals import UnresolvedAssetJobDefinition


def cycle_job(line: Line) -> UnresolvedAssetJobDefinition:
    """Return the job `<line>_cycle`: the line's group, hence one cycle's assets, with their checks; never the
    seeds."""
    return dg.define_asset_job(
        line.job_name,
        selection=dg.AssetSelection.groups(line.name),
        tags={LINE_TAG: line.name},
        description=(
            f"One cycle of the line {line.name}. Backfill a range of cycles with it, or materialize the "
            f"group {line.name}."
        ),
    )


def seeds_job(line: Line) -> UnresolvedAssetJobDefinition:
    """Return the job `<line>_seeds`: everything unpartitioned of the line; it seals the population that
    enters cycle 0001."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # `include_sources` is in beta in Dagster 1.13
        chosen = dg.AssetSelection.groups(
            line.seeds_group, include_sources=True
        )  # the rules: observed before the seeds are judged by them
    return dg.define_asset_job(
        line.seeds_job_name,
        selection=chosen,
        tags={LINE_TAG: line.name},
        description=f"The seeds of the line {line.name}: seals the population that enters cycle 0001.",
    )


def study_jobs(study: Study) -> list[UnresolvedAssetJobDefinition]:
    """Return `<study>_setup`, `<study>_study` (one cell; backfill it for all) and `<study>_findings`, each a
    group of the study with its checks; of one whose cells are added as they come, the second alone."""
    details = {
        study.setup_group: (
            study.setup_group,
            f"What every cell of the study {study.name} works on. Run it first.",
        ),
        study.job_name: (
            study.name,
            f"One cell of the study {study.name}. Backfill all cells, in any order; what is there already "
            "costs nothing.",
        ),
        study.findings_group: (
            study.findings_group,
            f"Summary, comparisons and figures of the study {study.name}, once all cells are there.",
        ),
    }
    return [
        dg.define_asset_job(
            name,
            selection=dg.AssetSelection.groups(group),
            tags={LINE_TAG: study.name},
            description=description,
        )
        for name, (group, description) in details.items()
        if study.cells or group == study.name
    ]
