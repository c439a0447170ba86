"""Bury runs whose process is gone: no other process would ever say so, and whatever waits for them would wait
for ever.

A run that ends writes its last word itself; if its process was killed, the code server that started it does.
If that was killed too, or the run was made in process, the run stays "started": it holds the slot of its
line's pool, nights are skipped and backfills queue behind it. Locks distinguish such a run from a living one,
since they go with the process that held them:

- a run that the daemon, the UI or Dagster's commands started holds its own lock until its process ends
  (`pipelines.executor`);
- a run made in process (`evolake run`) holds the line's lock from before it is created until after it has
  ended;
- one that came to neither is dead immediately if its process was started on this host and is gone
  (`pipelines.run_process`), else (it died while it was launched, it is of another host, or a notebook made
  it) if it stood still for `PATIENCE_S` and the line is free.

A run that is declared dead before it came to its lock finds that out when it takes it, and stops: nothing is
ever done twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack

import dagster as dg

from assets.line import IN_PROCESS_TAG, Line
from evolake.errors import PartitionBusy
from evolake.lake import Lake
from pipelines.line_state import UNFINISHED, belongs
from pipelines.run_process import LAUNCHED_TAG, ended_process
from resources.lake import is_of_another

PATIENCE_S = 300.0
"""How long a run may take from its launch until it holds a lock: as a code server that loads slowly may."""
WATCHED = [status for status in UNFINISHED if status is not dg.DagsterRunStatus.QUEUED]
"""What a dead run can be left in. A queued run needs no process."""


def bury_dead_runs(
    instance: dg.DagsterInstance, lake: Lake, lines: Iterable[Line], *, others: bool = False
) -> list[str]:
    """Mark as failed (canceled, where that was asked for) the runs whose process is gone; gives their ids. Of
    runs on another lake this one's locks say nothing: they are left alone.

    Args:
        lines: whose runs are looked at. others: whether those of no line, like a study's or upkeep's, are
            looked at too.
    """
    known = list(lines)
    records = instance.get_run_records(dg.RunsFilter(statuses=WATCHED))
    buried = []
    for record in records:
        of = [line.name for line in known if belongs(record.dagster_run, line)]
        if is_of_another(record.dagster_run, lake):
            continue
        if (of or others) and _bury(instance, lake, of, record):
            buried.append(record.dagster_run.run_id)
    return buried


def sweep(instance: dg.DagsterInstance, lake: Lake) -> None:
    """Take away the files of locks whose runs have ended."""
    for run_id in lake.run_locks.all_seen():
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            try:
                with lake.run_locks.dead(run_id):
                    pass
            except PartitionBusy:
                continue


def _bury(instance: dg.DagsterInstance, lake: Lake, of: list[str], record: dg.RunRecord) -> bool:
    """`of`: names of the lines that the run belongs to."""
    run = record.dagster_run
    seen = lake.run_locks.seen(run.run_id)
    gone = None if seen or run.tags.get(IN_PROCESS_TAG) else ended_process(instance, run)
    if run.tags.get(IN_PROCESS_TAG):
        own, of_lines = False, of
    elif seen or gone or time.time() - record.update_timestamp.timestamp() > PATIENCE_S:
        own, of_lines = True, [] if seen or LAUNCHED_TAG in run.tags else of
    else:
        return False
    if not own and not of_lines:
        return False
    try:
        with ExitStack() as held:
            if own:
                held.enter_context(lake.run_locks.dead(run.run_id))
            for name in of_lines:
                held.enter_context(lake.line_lock(name, run_id="bury-dead-runs"))
            return _mark(instance, run.run_id, gone)
    except PartitionBusy:
        return False


def _mark(instance: dg.DagsterInstance, run_id: str, gone: int | None) -> bool:
    """Report the end of the run, unless it is reported already; return whether that was needed. gone: a
    process that ended too early."""
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return False
    if run.status is dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(run, "The process of this run was gone before it was canceled.")
    else:
        when = f"(pid {gone}) ended while the run was starting" if gone else "ended before the run did"
        what = f"The process of this run {when}"
        instance.report_run_failed(run, f"{what} (killed?). Start its cycle again.")
    return True
