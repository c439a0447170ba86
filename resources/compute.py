"""Where evaluations are computed: anything that is a `concurrent.futures.Executor`.

A process pool on this machine. A cluster takes its place without a change in any asset: `dask.distributed.Client(...).get_executor()` is an
Executor too; a subclass that overrides `make` is all it takes.
"""

from __future__ import annotations

from concurrent.futures import Executor

import dagster as dg
from pydantic import PrivateAttr

from evolake import settings as settings_module


class ComputeResource(dg.ConfigurableResource):
    """One executor per run, made on first use. `workers` 0 means the settings' number (EVOLAKE_WORKERS, else the machine's cores)."""

    workers: int = 0
    _executor: Executor | None = PrivateAttr(default=None)

    def executor(self) -> Executor:
        """The executor of this run. Submit functions and arguments that can be pickled."""
        if self._executor is None:
            self._executor = self.make()
        return self._executor

    def make(self) -> Executor:
        """A new executor. Workers are spawned, never forked: Dagster's process has threads, and a fork would copy their locks."""
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        return ProcessPoolExecutor(max_workers=self.workers or settings_module.load().workers, mp_context=get_context("spawn"))

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Stop the workers; what is queued and not started is dropped."""
        if self._executor is not None:
            executor, self._executor = self._executor, None
            executor.shutdown(wait=True, cancel_futures=True)
