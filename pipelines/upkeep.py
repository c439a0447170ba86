"""Upkeep of the lake: the job `verify_lake` holds every file to what was written; the schedule `lake_nightly`
runs it each night.

A finding makes the run red, with the findings in its metadata and the command that repairs them. Nothing is
repaired by itself: that is for a person to decide. (Annotations are not postponed in this file: Dagster reads
an op's context and resources from its signature.)
"""

import dagster as dg

from assets.shown import markdown, note, warn
from pipelines.executor import living_executor
from pipelines.schedules import cron_or, time_zone
from resources.lake import LakeResource

ONE_IN_THE_NIGHT = "0 1 * * *"
SHOWN = 20


@dg.op(
    description="Fails if a seal, manifest, part, blob or entry of the call cache is not as it was written."
)
def hold_to_what_was_written(context: dg.OpExecutionContext, lake: LakeResource) -> None:
    """Run the one op of the job.

    Raises:
        dg.Failure: something is damaged; the metadata name what, where and how it is repaired.
    """
    from evolake.report.health import examine, summary

    result = examine(lake.open().root)
    for finding in result.findings:
        (note if finding.note else warn)(
            context, f"{finding.what} ({finding.where}): wanted {finding.wanted}, got {finding.got}"
        )
    if report := summary(result):
        rows = [f"- {finding.what}: `{finding.where}`" for finding in result.findings if not finding.note]
        shown = "\n".join(
            [*rows[:SHOWN], *([f"- and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else [])]
        )
        raise dg.Failure(
            report, metadata={"findings": markdown(shown), "count": len(rows)}, allow_retries=False
        )


@dg.job(
    executor_def=living_executor,
    description="Checks that the lake is as it was written: seals, manifests, parts, blobs, call cache. "
    "Changes nothing.",
)
def verify_lake() -> None:
    """See the module docstring."""
    hold_to_what_was_written()


lake_nightly = dg.ScheduleDefinition(
    name="lake_nightly",
    job=verify_lake,
    cron_schedule=cron_or(ONE_IN_THE_NIGHT),
    execution_timezone=time_zone(),
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Holds the lake to what was written each night, before the lines grow.",
)
