"""Where evaluations are computed: a `concurrent.futures.Executor` by the setting `compute` (see
evolake.compute), one per run.

All resources and assets of a run share it, whichever of them asks first: the table of open executors belongs
to the process, as that of held locks does (resources.locks). Workers that cannot be used fail the run before
its first asset.
"""

from __future__ import annotations

from concurrent.futures import Executor
from functools import partial

import dagster as dg
from pydantic import PrivateAttr

from evolake import settings as settings_module
from resources import warm
from resources.run_settings import lay_over

_open: dict[str, Executor] = {}
_kinds: dict[str, warm.Kind | None] = {}


def run_executor(run_id: str, workers: int = 0) -> Executor:
    """Return the executor of a run, opened by the first caller.

    Raises:
        InputError, ComputeUnavailable: see `evolake.compute.open_executor`.
    """
    if run_id not in _open:
        from evolake.compute import is_local, open_executor

        settings = settings_module.load()
        kind = ("workers", workers or settings.workers) if is_local(settings) else None
        kept = warm.take(kind)
        _open[run_id] = kept if kept is not None else open_executor(settings, workers)
        _kinds[run_id] = kind
    return _open[run_id]


def remote_executor(run_id: str) -> Executor | None:
    """Return the executor of a run, where its workers may be on other hosts; None where this process and its
    children do the work."""
    from evolake.compute import is_local

    return None if is_local(settings_module.load()) else run_executor(run_id)


def meet_workers(run_id: str) -> None:
    """Let the workers that a setting names prove themselves, before the run's first asset. Workers of our own
    are started when they are needed."""
    from evolake.compute import are_ours

    if not are_ours(settings_module.load()):
        run_executor(run_id)


def close_executor(run_id: str) -> None:
    """Stop the workers of a run, if they are not kept for the next one (see `resources.warm`); what is queued
    and not started is dropped. Not having any is fine."""
    executor, kind = _open.pop(run_id, None), _kinds.pop(run_id, None)
    if executor is None:
        return
    stop = partial(executor.shutdown, wait=True, cancel_futures=True)
    if kind is None or not warm.keep(kind, executor, stop):
        stop()


class ComputeResource(dg.ConfigurableResource):
    """One executor per run, made on first use. `workers` 0 means the settings' number (EVOLAKE_WORKERS, else
    the machine's cores)."""

    workers: int = 0
    _run: str = PrivateAttr(default="")

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """See `meet_workers`. Raises as `run_executor`."""
        lay_over(context)
        self._run = context.run.run_id if context.run else ""
        meet_workers(self._run)

    def executor(self) -> Executor:
        """Return the executor of this run. Submit functions and arguments that can be pickled."""
        return run_executor(self._run, self.workers)

    @property
    def workers_at_work(self) -> int:
        """How many things are computed at the same time: on workers of our own, or on those that a cluster
        has now."""
        slots = getattr(self.remote(), "slots", None)
        return slots or self.workers or settings_module.load().workers

    def cores_each(self, tasks: int) -> int:
        """Return how many threads each of so many tasks may have where they are all that there is to do. Few
        tasks may have every core each: who is left at the end then has them all. Of a cluster's hosts nothing
        is known: 1."""
        workers = self.workers or settings_module.load().workers
        return workers if self.remote() is None and tasks <= 2 * workers else 1

    def remote(self) -> Executor | None:
        """Do as `remote_executor`, of this run."""
        return remote_executor(self._run)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Stop the workers."""
        close_executor(self._run)
