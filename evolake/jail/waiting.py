"""Measure how long the processes of a jail waited for the host: a busy host is not a candidate that sleeps.

A process that computes, but gets no processor, is on the run queue, and the kernel counts that time
(/proc/PID/schedstat). A process that sleeps or waits on purpose is on no run queue. So the clock that limits
a run counts only the seconds in which the run did not wait for the host. Everything is read from the host's
side: a candidate sees no /proc and can write none of these numbers.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 0.25
"""Seconds between two looks at a run. A shorter run is never looked at, and costs nothing."""
LATE_S = 1.0
"""A look that is later than this was itself kept waiting by the host, which may be paused as a whole. The
rest of that gap counts as a wait."""
SOON_S = 0.001
"""The shortest time to the next look of a run that has time left; 0 would say that its time is up."""
STATE, STARTED = 0, 19
"""Positions in /proc/PID/stat after the program's name."""
TICKS = os.sysconf("SC_CLK_TCK")
PROCESSORS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class _Seen:
    """One thread at one look. ran, queued: nanoseconds so far. stuck: it is runnable, or waits for a disk.

    started: ticks since boot.
    """

    ran: int
    queued: int
    stuck: bool
    started: int


class Waiting:
    """Sum up the seconds in which a run waited for the host. Of several jails that work together, sum up all.

    May be used by several threads. `add` each server (see `JailProcess.server`) whose processes belong to the
    run.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._servers: list[int] = []
        self._seen: dict[tuple[int, int], _Seen] = {}
        self._ahead: dict[tuple[int, int], float] = {}
        self._lock = threading.Lock()
        self._looked, self._began = time.monotonic(), int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)

    def add(self, server: int | None) -> None:
        """Follow everything below this process, too."""
        with self._lock:
            if server is not None:
                self._servers.append(server)

    def begin(self) -> None:
        """Count no wait from before now for the run that begins."""
        if time.monotonic() - self._looked > LOOK_S:
            self.look()

    def look(self) -> float:
        """Look at every process of the run; return the seconds that it waited so far."""
        with self._lock:
            now = time.monotonic()
            gap, self._looked = now - self._looked, now
            seen = dict(_threads(self._servers))
            by_process: dict[int, float] = {}
            for key, thread in seen.items():
                by_process[key[0]] = max(by_process.get(key[0], 0.0), self._waited(key, thread, gap))
            if not seen and self._servers and os.getloadavg()[0] > PROCESSORS:
                by_process[0] = gap  # no evidence about the run itself can be read here
            self.seconds += min(gap, max(sum(by_process.values()), gap - LATE_S))
            self._seen = seen
            return self.seconds

    def _waited(self, key: tuple[int, int], now: _Seen, gap: float) -> float:
        """Return the seconds that one thread waited since the last look.

        The kernel counts a wait only when it ends, so one that lasts is counted here, and subtracted then.
        """
        before = self._seen.get(key)
        if before is None:
            return now.queued / 1e9 if now.started >= self._began else 0.0
        if before.stuck and now.stuck and now.ran == before.ran and now.queued == before.queued:
            self._ahead[key] = self._ahead.get(key, 0.0) + gap
            return gap
        queued, ahead = (now.queued - before.queued) / 1e9, self._ahead.pop(key, 0.0)
        return max(0.0, queued - ahead)


class Clock:
    """Limit one run: `wall_s` seconds without those in which it waited, and at most `stretch` times as many
    in all."""

    def __init__(self, wall_s: float, stretch: float, waiting: Waiting):
        self._wall_s, self._most_s, self._waiting = wall_s, max(1.0, stretch) * wall_s, waiting
        waiting.begin()
        self._began, self._before = time.monotonic(), waiting.seconds
        self._next = self._began + LOOK_S

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def waited_s(self) -> float:
        """Seconds of these in which it waited for the host, as far as was looked."""
        return self._waiting.seconds - self._before

    @property
    def starved(self) -> bool:
        """Whether the run has not had `wall_s` seconds of the host yet."""
        return self.elapsed_s - self.waited_s < self._wall_s

    def left_s(self) -> float:
        """Return after how many seconds to ask again; 0 if the time is up."""
        if time.monotonic() >= self._next or self._left_s() <= 0:
            self._waiting.look()
            self._next = time.monotonic() + LOOK_S
        left = self._left_s()
        # Here the host may have kept this thread until past the next look: that ends no run.
        return 0.0 if left <= 0 else max(SOON_S, min(left, self._next - time.monotonic()))

    def _left_s(self) -> float:
        return min(self._wall_s + self.waited_s, self._most_s) - self.elapsed_s


def _threads(servers: list[int]) -> Iterator[tuple[tuple[int, int], _Seen]]:
    """(process, thread) -> what is seen of it, of all processes from `servers` down."""
    level, known = list(servers), set[int]()
    while level:
        process = level.pop()
        if process in known:
            continue
        known.add(process)
        with contextlib.suppress(OSError, ValueError, IndexError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                children = (thread / "children").read_text().split()
                level += map(int, children)
                ran, queued, _ = (thread / "schedstat").read_text().split()
                fields = (thread / "stat").read_text().rpartition(")")[2].split()
                # a thread that waits for the child of its vfork is in the state D, too
                stuck = fields[STATE] == "R" or (fields[STATE] == "D" and not children)
                yield (process, int(thread.name)), _Seen(int(ran), int(queued), stuck, int(fields[STARTED]))
