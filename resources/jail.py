"""The jail as a Dagster resource: one warm pool a run, opened when the first candidate is to run and closed when the run ends. Where the workers of a
cluster compute, the jails are theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field, PrivateAttr

from evolake import settings as settings_module
from resources.compute import close_executor, meet_workers, remote_executor

if TYPE_CHECKING:
    from evolake.compute import Jails


class JailResource(dg.ConfigurableResource):
    """Runs generated code. `preload` names the modules that every warm worker has imported already."""

    preload: list[str] = Field(default=["torch", "numpy"])
    workers: int = 0
    _run: str = PrivateAttr(default="")
    _pool: Jails | None = PrivateAttr(default=None)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """See `resources.compute.meet_workers`."""
        self._run = context.run.run_id if context.run else ""
        meet_workers(self._run)

    def open(self) -> Jails:
        """The pool of this run.

        Raises:
            JailUnavailable: no working sandbox. Never to be read as a candidate's failure.
        """
        if self._pool is None:
            from evolake.compute import open_jails

            settings = settings_module.load()
            pool = open_jails(remote_executor(self._run), self.workers or settings.workers, tuple(self.preload), settings.jail)
            self._pool = pool.__enter__()
        return self._pool

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Stop the workers, however the run ended."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            pool.__exit__(None, None, None)
        close_executor(self._run)
