"""Nightly: one more cycle of a line each night.

A tick asks the lake, not Dagster, for the first cycle that is not sealed yet, adds that partition if it is
missing and requests one run. So a night after a failure runs the failed cycle again, and keys that were
registered in advance are not jumped to. Runs of the line whose process is gone are buried first; while one
lives, the night is skipped, with the reason. A tick that was cut off is evaluated again by Dagster: it asks
for the run that it has made already, so there is one cycle a tick.

The schedules are listed in the UI (Automation) and stopped; switch on the one of the line that shall grow by
itself, or name it in EVOLAKE_NIGHTLY_LINES. They tick at two in the night, UTC; EVOLAKE_NIGHTLY_CRON and
EVOLAKE_NIGHTLY_TIMEZONE say otherwise.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dagster as dg

from assets.line import Line, register_keys
from evolake.errors import InputError
from evolake.terminal import warn
from pipelines.burial import bury_dead_runs
from pipelines.line_state import PARTITION_TAG, next_cycle, runs_at_work
from resources.dagster_internals import is_valid_cron_string
from resources.lake import LakeResource
from resources.run_settings import run_config

CRON_VARIABLE, TWO_IN_THE_NIGHT = "EVOLAKE_NIGHTLY_CRON", "0 2 * * *"
ZONE_VARIABLE, DEFAULT_ZONE = "EVOLAKE_NIGHTLY_TIMEZONE", "UTC"
LINES_VARIABLE = "EVOLAKE_NIGHTLY_LINES"
STARTED_BY_TAG, BURIED_TAG = "evolake/started_by", "evolake/buried"
SCHEDULE_TAG, TICK_TAG = ("dagster/schedule_name", ".dagster/scheduled_execution_time")
"""Dagster's tags of a run that a tick asked for."""


def cron_or(default: str) -> str:
    """Return EVOLAKE_NIGHTLY_CRON, else `default`. Raises InputError where it is no cron string."""
    cron = os.environ.get(CRON_VARIABLE) or default
    if not is_valid_cron_string(cron):
        raise InputError(
            f"{CRON_VARIABLE} is no schedule",
            wanted="five fields of cron, such as '0 2 * * *'",
            got=repr(cron),
            do="fix the variable",
        )
    return cron


def time_zone() -> str:
    """Return EVOLAKE_NIGHTLY_TIMEZONE, else UTC. Raises InputError where it is no time zone."""
    zone = os.environ.get(ZONE_VARIABLE) or DEFAULT_ZONE
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise InputError(
            f"{ZONE_VARIABLE} is no time zone",
            wanted="a name of the IANA database, such as Europe/Vienna",
            got=repr(zone),
            do="fix the variable",
        ) from None
    return zone


def leave_bad_cron_out() -> None:
    """Say that EVOLAKE_NIGHTLY_CRON is no schedule, or its time zone none, and continue without it: only the
    daemon needs it."""
    for variable, read in ((CRON_VARIABLE, lambda: cron_or(TWO_IN_THE_NIGHT)), (ZONE_VARIABLE, time_zone)):
        try:
            read()
        except InputError as error:
            warn(f"{error.what}, and this command needs none: {error.got}; wanted {error.wanted}")
            del os.environ[variable]


def works_nightly(name: str) -> bool:
    """Return whether the line's schedule is on from the start: EVOLAKE_NIGHTLY_LINES names it, or `all`."""
    return not {name, "all"}.isdisjoint(
        part.strip() for part in os.environ.get(LINES_VARIABLE, "").split(",")
    )


def nightly(line: Line) -> dg.ScheduleDefinition:
    """Return the schedule `<line>_nightly`, stopped until a user starts it, here or by
    EVOLAKE_NIGHTLY_LINES."""
    name = f"{line.name}_nightly"
    on = dg.DefaultScheduleStatus.RUNNING if works_nightly(line.name) else dg.DefaultScheduleStatus.STOPPED

    @dg.schedule(
        job_name=line.job_name,
        cron_schedule=cron_or(TWO_IN_THE_NIGHT),
        execution_timezone=time_zone(),
        name=name,
        default_status=on,
        description=(
            f"One more cycle of the line {line.name} each night: the first that is not sealed yet. Skips "
            "while a run of the line is in progress."
        ),
    )
    def tick(context: dg.ScheduleEvaluationContext, lake: LakeResource) -> dg.RunRequest | dg.SkipReason:
        store = lake.open()
        config = run_config()
        if made := _made_already(context, name):
            return dg.RunRequest(partition_key=made, run_config=config, tags={STARTED_BY_TAG: "nightly"})
        buried = bury_dead_runs(context.instance, store, [line])
        if busy := runs_at_work(context.instance, store, line):
            return dg.SkipReason(_at_work(context.instance, line, busy[-1]))
        cycle = next_cycle(store, line)
        if cycle is None:
            return dg.SkipReason(
                f"line {line.name} has no seeds yet: materialize the group {line.seeds_group} once"
            )
        register_keys(context.instance, line.name, [cycle])
        details = {BURIED_TAG: ", ".join(buried)} if buried else {}
        return dg.RunRequest(
            partition_key=cycle, run_config=config, tags={STARTED_BY_TAG: "nightly", **details}
        )

    return tick


def _made_already(context: dg.ScheduleEvaluationContext, name: str) -> str | None:
    """Return the cycle of the run that this very tick asked for before it was cut off; Dagster hands in the
    run that is there instead of making another."""
    when = context.scheduled_execution_time.astimezone(UTC).isoformat()
    runs = context.instance.get_runs(dg.RunsFilter(tags={SCHEDULE_TAG: name, TICK_TAG: when}), limit=1)
    return runs[0].tags.get(PARTITION_TAG) if runs else None


def _at_work(instance: dg.DagsterInstance, line: Line, run: dg.DagsterRun) -> str:
    """Why the night is skipped, with the oldest run that is in its way."""
    record = instance.get_run_record_by_id(run.run_id)
    since = (
        f" since {datetime.fromtimestamp(record.create_timestamp.timestamp(), UTC):%Y-%m-%d %H:%M} UTC"
        if record
        else ""
    )
    waits = run.status is dg.DagsterRunStatus.QUEUED
    state = "waits in the queue" if waits else "is still running"
    return f"run {run.run_id} of line {line.name} {state}{since}; one cycle at a time"
