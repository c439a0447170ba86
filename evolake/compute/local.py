"""Processes of this machine as a `concurrent.futures.Executor` that survives the death of any of them.

A pool of several processes is lost as a whole when one dies, and does not say under which task. So each
worker is a pool of one process, fed by its own thread: the task that was under way is tried again in a new
process, and no other task hears of it. As on a cluster, a task that four processes died of is a failure of
the machinery:

MachineryError
├── ComputeUnavailable          nothing was computed: no worker, or none that has proved itself
└── WorkersLost                 a task was tried on worker after worker, and all died; a BrokenExecutor too,
                                as a pool of processes raises

No worker outlives this process: the kernel kills it with the thread that started it.
`shutdown(cancel_futures=True)`, which ends an interrupted run, kills the process of the task under way.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import partial
from multiprocessing import get_context
from typing import Any

from evolake.errors import MachineryError
from evolake.project import end_with


class ComputeUnavailable(MachineryError):
    """The compute that the settings name cannot be used. Reported before any work."""


class WorkersLost(MachineryError, BrokenExecutor):
    """Workers died under a task more often than it is retried."""


DEATHS = 3
"""How many processes may die under one task before it is given up; Dask's `allowed-failures` has the same
default."""


class LocalExecutor(Executor):
    """At most `workers` processes, each started with its first task. initializer: what each begins with."""

    def __init__(self, workers: int, initializer: Callable[[], None] | None = None):
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="evolake-worker")
        self._initializer = initializer
        self._here = threading.local()
        self._all: list[ProcessPoolExecutor] = []
        self._asked: set[Future[Any]] = set()
        self._cancelled = False

    @property
    def idle(self) -> bool:
        """No task is waiting or under way."""
        return all(future.done() for future in tuple(self._asked))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task. The future raises what `fn` raises, or WorkersLost where process after process died
        of it."""
        future = self._threads.submit(self._called, fn, args, kwargs)
        self._asked.add(future)
        future.add_done_callback(self._asked.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes. cancel_futures: also those with a task under way, by SIGKILL; its future raises
        CancelledError."""
        if cancel_futures and not self.idle:
            self._cancelled = True
            for process in tuple(self._all):
                _kill(process)
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._all:
            process.shutdown(wait, cancel_futures=cancel_futures)

    def _called(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        text = ""
        for _ in range(DEATHS + 1):
            if self._cancelled:
                raise CancelledError
            running = self._process().submit(fn, *args, **kwargs)
            error = running.exception()
            if not isinstance(error, BrokenExecutor):
                return running.result()
            text = str(error)
            self._here.process.shutdown()
            del self._here.process
        raise WorkersLost(
            "a task found no process that lived to finish it",
            got=text,
            do="look for a lack of memory; then run again",
        )

    def _process(self) -> ProcessPoolExecutor:
        """Return the executor of this thread. Spawned, never forked: Dagster's process has threads, and a
        fork would copy their locks."""
        if not hasattr(self._here, "process"):
            self._here.process = ProcessPoolExecutor(
                1,
                mp_context=get_context("spawn"),
                initializer=partial(_begin, os.getpid(), self._initializer),
            )
            self._all.append(self._here.process)
        return self._here.process


def _begin(parent: int, initializer: Callable[[], None] | None) -> None:
    """Begin a worker: it ends with the thread that started it, also if that was killed."""
    end_with(parent)
    if initializer is not None:
        initializer()


def _kill(pool: ProcessPoolExecutor) -> None:
    """Kill the pool's process. `ProcessPoolExecutor.kill_workers` does so from Python 3.14 on."""
    for process in tuple((getattr(pool, "_processes", None) or {}).values()):
        with contextlib.suppress(ValueError):  # it was closed
            process.kill()
