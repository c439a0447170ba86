"""The jail as a Dagster resource: one warm pool a run, opened when the first candidate is to run and closed
when the run ends, or kept for the next run of the same process (see `resources.warm`). Where the workers of a
cluster compute, the jails are theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field, PrivateAttr

from evolake import settings as settings_module
from resources import warm
from resources.compute import close_executor, meet_workers, remote_executor
from resources.run_settings import lay_over

if TYPE_CHECKING:
    from evolake.compute import Jails


class JailResource(dg.ConfigurableResource):
    """Runs generated code. `preload` names modules that every warm worker has imported already, next to those
    that an asset names."""

    preload: list[str] = Field(default=[])
    workers: int = 0
    _run: str = PrivateAttr(default="")
    _pool: Jails | None = PrivateAttr(default=None)
    _kind: warm.Kind | None = PrivateAttr(default=None)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """See `resources.compute.meet_workers`."""
        lay_over(context)
        self._run = context.run.run_id if context.run else ""
        meet_workers(self._run)

    def open(self, preload: Sequence[str] = ()) -> Jails:
        """Return the pool of this run. preload: what its workers are to have imported; the first caller
        decides.

        Raises:
            JailUnavailable: no working sandbox. Never to be read as a candidate's failure.
        """
        if self._pool is None:
            from evolake.compute import open_jails

            settings = settings_module.load()
            executor, workers = remote_executor(self._run), self.workers or settings.workers
            wanted = tuple(dict.fromkeys([*preload, *self.preload]))
            self._kind = None if executor else ("jails", workers, wanted, settings.jail)
            pool: Jails = (
                warm.take(self._kind) or open_jails(executor, workers, wanted, settings.jail).__enter__()
            )
            self._pool = pool
        return self._pool

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Stop the workers, however the run ended."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            if self._kind is None or not warm.keep(self._kind, pool, pool.close):
                pool.__exit__(None, None, None)
        close_executor(self._run)
