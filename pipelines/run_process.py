"""Whether the process of a run that is starting is gone: known before the run has come to its lock, if it was
started on this host.

Dagster logs the process id as the first thing that the process of a run does. The id means something on one
host only, so it is taken for a proof only if the code server that started the run is of this host: its Unix
socket, which has a random name, is here, or it listens on the loopback interface and Dagster's state is in
SQLite files, which no two hosts share.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import dagster as dg

from resources.dagster_internals import has_events_in_files

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
