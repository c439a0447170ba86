"""`python -m pipelines.asked STUDY PARTITION`: materialize what a command asked a study for, with its checks.
`evolake audit --into` and `evolake solvers tune` call this; in the UI the study's job does the same."""

from __future__ import annotations

import importlib
import os
import sys
import uuid
import warnings

import click
import dagster as dg

from assets.line import IN_PROCESS_TAG
from assets.study import Study
from evolake import settings as settings_module
from evolake.cli.ending import end
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lines import lines
from evolake.terminal import say_text
from pipelines.burial import bury_dead_runs
from pipelines.home import home_from_environment
from pipelines.outcome import explain
from pipelines.runlog import run_config
from pipelines.schedules import leave_bad_cron_out
from resources.lake import LAKE_TAG
from resources.locks import hold_line, release_lines

REQUESTED = "requested"
"""The external asset of a study: what was asked for."""
VERSION_TAG = "dagster/data_version"


@click.command()
@click.argument("study")
@click.argument("key")
def main(study: str, key: str) -> int:
    """Make one partition of a study."""
    leave_bad_cron_out()
    from pipelines.definitions import defs

    asked: Study = importlib.import_module(lines()[study].assets).study
    lake = Lake(settings_module.load().require_lake())
    home = home_from_environment(lake)
    if lake.record(study, REQUESTED, key) is None:
        raise InputError(
            f"{key!r} was not asked for",
            wanted=f"one of {', '.join(lake.cycles(study, REQUESTED)[:10]) or 'none yet'}",
            do="see the commands of docs/tasks.md",
        )
    run_id = str(uuid.uuid4())
    with warnings.catch_warnings(), dg.DagsterInstance.get() as instance:
        warnings.simplefilter("ignore", dg.PreviewWarning)
        bury_dead_runs(instance, lake, [asked])
        instance.add_dynamic_partitions(study, [key])
        note_request(instance, lake, asked, key)
        hold_line(lake, study, run_id)
        try:
            result = defs.resolve_job_def(asked.job_name).execute_in_process(
                instance=instance,
                partition_key=key,
                run_id=run_id,
                raise_on_error=False,
                run_config=run_config(home / "logs" / f"{key}-{run_id[:8]}.log"),
                tags={IN_PROCESS_TAG: str(os.getpid()), LAKE_TAG: lake.id},
            )
        finally:
            release_lines(run_id)
    if result.success:
        return 0
    code, reason = explain(result)
    say_text(f"error: {reason}", err=True)
    return 3 if code == 1 else code


def note_request(instance: dg.DagsterInstance, lake: Lake, study: Study, key: str) -> None:
    """Report to Dagster what was asked for: its version, then that it is there, unless it is known."""
    asset = study.key(REQUESTED)
    record = lake.record(study.name, REQUESTED, key)
    version = record.content_sha if record else ""
    newest = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[key]), limit=1
    ).records
    if newest and newest[0].asset_materialization.tags.get(VERSION_TAG) == version:  # pyright: ignore[reportOptionalMemberAccess]
        return
    given = {"partition": key, "tags": {VERSION_TAG: version}}
    for event in (dg.AssetObservation, dg.AssetMaterialization):
        instance.report_runless_asset_event(event(asset, **given))


if __name__ == "__main__":
    sys.exit(end(main))
