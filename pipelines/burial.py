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
- one that came to neither is dead immediately if its process was started on this host and is gone,
  else (it died while it was launched, it is of another host, or a notebook made
  it) if it stood still for `PATIENCE_S` and the line is free.

A run that is declared dead before it came to its lock finds that out when it takes it, and stops: nothing is
ever done twice.

Dagster logs the process id as the first thing that the process of a run does. The id means something on one
host only, so it is taken for a proof only if the code server that started the run is of this host: its Unix
socket, which has a random name, is here, or it listens on the loopback interface and Dagster's state is in
SQLite files, which no two hosts share.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import dagster as dg

from assets.line import IN_PROCESS_TAG, Line
from assets.study import Study
from evolake.errors import PartitionBusy
from evolake.lake import Lake
from pipelines.line_state import UNFINISHED, belongs
from resources.dagster_internals import has_events_in_files
from resources.lake import is_of_another

LAUNCHED_TAG = ".dagster/grpc_info"
"""Dagster's tag of a run that a code server was asked to start: where that listens."""
STARTED_PROCESS = "Started process for run"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SLACK_S = 2.0
"""Clock ticks and the time between a process's start and its event."""


def ended_process(instance: dg.DagsterInstance, run: dg.DagsterRun) -> int | None:
    """Return the id of the process of `run` if it was started on this host and is gone; None if it lives or
    nothing is known."""
    if not _is_of_this_host(instance, run):
        return None
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        if event is not None and (event.message or entry.user_message or "").startswith(STARTED_PROCESS):
            value = event.engine_event_data.metadata.get("pid")
            pid = int(str(value.value)) if value is not None else 0
            return pid if pid and not _is_alive(pid, entry.timestamp) else None
    return None


def _is_of_this_host(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    server = json.loads(run.tags.get(LAUNCHED_TAG) or "{}")
    if server.get("socket"):
        return Path(server["socket"]).exists()
    return server.get("host") in LOOPBACK and has_events_in_files(instance)


def _is_alive(pid: int, seen_at: float) -> bool:
    """Return whether the process that had the id at `seen_at` (seconds since the epoch) lives: one that
    started later only has its id."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if fields[0] in ("Z", "X"):
        return False
    booted = next(
        int(line.split()[1])
        for line in Path("/proc/stat").read_text().splitlines()
        if line.startswith("btime ")
    )
    return booted + int(fields[19]) / os.sysconf("SC_CLK_TCK") <= seen_at + SLACK_S


PATIENCE_S = 300.0
"""How long a run may take from its launch until it holds a lock: as a code server that loads slowly may."""
WATCHED = [status for status in UNFINISHED if status is not dg.DagsterRunStatus.QUEUED]
"""What a dead run can be left in. A queued run needs no process."""


def bury_dead_runs(
    instance: dg.DagsterInstance, lake: Lake, lines: Iterable[Line | Study], *, others: bool = False
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
    """Mark a run as ended if nothing holds the locks that it would hold while it lives; return whether that
    was done. of: names of the lines that the run belongs to."""
    run = record.dagster_run
    in_process, gone, lines = bool(run.tags.get(IN_PROCESS_TAG)), None, of
    if in_process and not of:
        return False
    if not in_process:
        seen = lake.run_locks.seen(run.run_id)
        gone = None if seen else ended_process(instance, run)
        patience_over = time.time() - record.update_timestamp.timestamp() > PATIENCE_S
        if not (seen or gone or patience_over):
            return False
        # one that came to its own lock, or was launched, never takes the lock of a line
        lines = [] if seen or LAUNCHED_TAG in run.tags else of
    try:
        with ExitStack() as held:
            if not in_process:
                held.enter_context(lake.run_locks.dead(run.run_id))
            for name in lines:
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
