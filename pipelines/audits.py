"""`python -m pipelines.audits AUDIT`: materialize the audit that was asked for in a lake, with its checks.
`evolake audit --into` calls this; in the UI the job `audits_study` does the same."""

from __future__ import annotations

import os
import sys
import uuid
import warnings

import click
import dagster as dg

from assets.line import IN_PROCESS_TAG
from evolake import settings as settings_module
from evolake.audits.requests import read_request
from evolake.cli.ending import end
from evolake.lake import Lake
from evolake.terminal import say_text
from pipelines.burial import bury_dead_runs
from pipelines.home import home_from_environment
from pipelines.outcome import explain
from pipelines.runlog import run_config
from pipelines.schedules import leave_bad_cron_out
from resources.lake import LAKE_TAG
from resources.locks import hold_line, release_lines


@click.command()
@click.argument("key")
def main(key: str) -> int:
    """Make one audit."""
    leave_bad_cron_out()
    from assets.audits import study
    from pipelines.definitions import defs

    lake = Lake(settings_module.load().require_lake())
    home = home_from_environment(lake)
    read_request(lake, key)
    run_id = str(uuid.uuid4())
    with warnings.catch_warnings(), dg.DagsterInstance.get() as instance:
        warnings.simplefilter("ignore", dg.PreviewWarning)
        bury_dead_runs(instance, lake, [study])
        instance.add_dynamic_partitions(study.name, [key])
        note_request(instance, lake, key)
        hold_line(lake, study.name, run_id)
        try:
            result = defs.resolve_job_def(study.job_name).execute_in_process(
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


def note_request(instance: dg.DagsterInstance, lake: Lake, key: str) -> None:
    """Report to Dagster what is to be audited: its version, then that it is there, unless it is known."""
    from assets.audits.audits import requested, study
    from evolake.audits.tables import REQUESTED

    record = lake.record(study.name, REQUESTED.name, key)
    version = record.content_sha if record else ""
    newest = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=requested.key, asset_partitions=[key]), limit=1
    ).records
    if newest and newest[0].asset_materialization.tags.get(VERSION_TAG) == version:  # pyright: ignore[reportOptionalMemberAccess]
        return
    given = {"partition": key, "tags": {VERSION_TAG: version}}
    for event in (dg.AssetObservation, dg.AssetMaterialization):
        instance.report_runless_asset_event(event(requested.key, **given))


VERSION_TAG = "dagster/data_version"


if __name__ == "__main__":
    sys.exit(end(main))
