"""Nightly: one more cycle of a line each night.

A tick asks the lake, not Dagster, which cycle is next: the first one that is not sealed yet. It adds that partition where it is missing and
requests one run. So a night after a failure runs the failed cycle again, and keys that were registered in advance are not jumped to. While a run
of the line is at work, the night is skipped: one cycle a tick, never two.

The schedules are listed in the UI (Automation) and stopped; switch on the one of the line that shall grow by itself. They tick at two in the
night, UTC; EVOLAKE_NIGHTLY_CRON says otherwise.
"""

from __future__ import annotations

import os

import dagster as dg

from assets.line import Line, register_keys
from pipelines.line_state import bury_dead_runs, next_cycle, runs_at_work
from resources.lake import LakeResource

CRON_VARIABLE, TWO_IN_THE_NIGHT = "EVOLAKE_NIGHTLY_CRON", "0 2 * * *"


def nightly(line: Line) -> dg.ScheduleDefinition:
    """The schedule `<line>_nightly`, stopped until somebody starts it."""

    @dg.schedule(
        job_name=line.job_name, cron_schedule=os.environ.get(CRON_VARIABLE, TWO_IN_THE_NIGHT), name=f"{line.name}_nightly",
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description=f"One more cycle of the line {line.name} each night: the first that is not sealed yet. Skips while a run of the line is at work.",
    )
    def tick(context: dg.ScheduleEvaluationContext, lake: LakeResource) -> dg.RunRequest | dg.SkipReason:
        store = lake.open()
        bury_dead_runs(context.instance, store, line)
        if busy := runs_at_work(context.instance, line):
            return dg.SkipReason(f"run {busy[0].run_id} of line {line.name} is still at work; one cycle at a time")
        cycle = next_cycle(store, line)
        if cycle is None:
            return dg.SkipReason(f"line {line.name} has no seeds yet: materialize the group {line.seeds_group} once")
        register_keys(context.instance, [cycle])
        return dg.RunRequest(partition_key=cycle, tags={"evolake/started_by": "nightly"})

    return tick
