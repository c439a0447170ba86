"""Look after a running candidate from the trusted side: count what no limit of the kernel counts, stop it,
and reap what is left.

RLIMIT_NPROC is ignored for root and counts other jails of the same user, so threads and processes are counted
here, every tick.
"""

# pathlib would cost every native run its import
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Iterable, Sequence

from evolake.jail.inside.kernel import MEBIBYTE

MOST_THREADS = 256
MOST_FILES = 20_000
TOO_MUCH_MEMORY = "used more than"
KILLS = "oom_kill"
PARENT, THREADS = 1, 17
"""Positions in /proc/PID/stat after the program's name."""


class Usage:
    """Sum over every process of one candidate that has been reaped."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.peak_mb = 0.0
        self.ended: dict[int, int] = {}

    def add(self, pid: int, wait_status: int, used: resource.struct_rusage) -> None:
        """Add what one process used."""
        self.cpu_s += used.ru_utime + used.ru_stime
        self.peak_mb = max(self.peak_mb, used.ru_maxrss * 1024 / MEBIBYTE)
        self.ended[pid] = wait_status


def _statistics(pid: int) -> list[str] | None:
    """/proc/PID/stat after the name, None when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def descendants(root: int) -> dict[int, int]:
    """Return process -> threads, of everything below `root`. In its own process namespace that is all there
    is."""
    parents, threads = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (result := _statistics(int(entry))):
            parents[int(entry)], threads[int(entry)] = int(result[PARENT]), int(result[THREADS])
    below: dict[int, int] = {}
    level = {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level and pid not in below}
        below.update({pid: threads[pid] for pid in level})
    return below


def memory_of(family: Iterable[int], folders: Sequence[int]) -> float:
    """Return MiB of memory that belongs to these processes alone and to the files in `folders`: what is
    swapped out is not seen. Two processes that share pages since a fork count them twice. Of other shared
    memory the filter allows only files that can be written, which are all in `folders`, so that nothing is
    held without being seen here."""
    pages = 0
    for pid in family:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/statm") as file:
            _, resident, of_files, *_ = file.read().split()
            pages += int(resident) - int(of_files)
    systems = [os.statvfs(folder) for folder in folders]
    return (
        pages * resource.getpagesize()
        + sum((system.f_blocks - system.f_bfree) * system.f_frsize for system in systems)
    ) / MEBIBYTE


def too_much_memory(total_mb: float) -> str:
    """Return what is said of a run that held more than `total_mb`."""
    return f"{TOO_MUCH_MEMORY} {total_mb:g} MiB in all its processes and files together"


def out_of_memory(events: int) -> bool:
    """Return whether the kernel has ended a process of the control group for want of memory. events:
    descriptor of its file of such events."""
    with contextlib.suppress(OSError):
        for line in os.pread(events, 4096, 0).decode().splitlines():
            name, _, count = line.partition(" ")
            if name == KILLS:
                return int(count) > 0
    return False


def excess(
    pid: int, processes: int | None, folders: Sequence[int], usage: Usage, total_mb: float | None
) -> str | None:
    """Return what the candidate has too much of, or None. `processes`: further processes allowed (None: it
    cannot make any). `folders`: where it writes. `total_mb`: MiB that it and its files may hold (None: no
    such limit). `usage` learns the peak of its memory where it has processes."""
    if processes is None:
        result = _statistics(pid)
        tasks = int(result[THREADS]) if result else 0
        if folders and total_mb is not None and memory_of((pid,), folders) > total_mb:
            return too_much_memory(total_mb)
    else:
        if (
            os.getpid() == 1 and sum(entry.isdigit() for entry in os.listdir("/proc")) > processes + 2
        ):  # quick: a fork bomb does not wait
            return f"made more than {processes} further processes"
        family = descendants(os.getpid())
        tasks = sum(family.values())
        if len(family) > processes + 1:
            return f"made more than {processes} further processes"
        if folders and os.getpid() == 1:
            together = memory_of(family, folders)
            usage.peak_mb = max(usage.peak_mb, together)
            if total_mb is not None and together > total_mb:
                return too_much_memory(total_mb)
    if tasks > MOST_THREADS:
        return f"made more than {MOST_THREADS} threads"
    if os.getpid() == 1:
        systems = [os.statvfs(folder) for folder in folders]
        if sum(system.f_files - system.f_ffree for system in systems) > MOST_FILES:
            return f"made more than {MOST_FILES} files"
    return None


def reap(usage: Usage) -> None:
    """Collect every child that has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, wait_status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            usage.add(pid, wait_status, used)


def stop_all(usage: Usage) -> None:
    """Kill and reap everything below this process, until nothing is left."""
    while True:
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            for pid in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        try:
            pid, wait_status, used = os.wait4(-1, 0)
        except ChildProcessError:
            return
        usage.add(pid, wait_status, used)
