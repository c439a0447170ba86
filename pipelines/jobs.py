"""Two jobs a line: one cycle, and the seeds before the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets.line import Line

if TYPE_CHECKING:
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

LINE_TAG = "evolake/line"


def cycle_job(line: Line) -> UnresolvedAssetJobDefinition:
    """The job `<line>_cycle`: the line's group, hence one cycle's assets, with their checks; never the seeds."""
    return dg.define_asset_job(
        line.job_name, selection=dg.AssetSelection.groups(line.name), tags={LINE_TAG: line.name},
        description=f"One cycle of the line {line.name}. Backfill a range of cycles with it, or materialize the group {line.name}.",
    )


def seeds_job(line: Line) -> UnresolvedAssetJobDefinition:
    """The job `<line>_seeds`: everything unpartitioned of the line; it seals the population that enters cycle 0001."""
    return dg.define_asset_job(
        line.seeds_job_name, selection=dg.AssetSelection.groups(line.seeds_group), tags={LINE_TAG: line.name},
        description=f"The seeds of the line {line.name}: seals the population that enters cycle 0001.",
    )
