"""The jail as a Dagster resource: one warm pool a run, opened when the first candidate is to run and closed when the run ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field, PrivateAttr

from evolake import settings as settings_module

if TYPE_CHECKING:
    from evolake.jail import Pool


class JailResource(dg.ConfigurableResource):
    """Runs generated code. `preload` names the modules that every warm worker has imported already."""

    preload: list[str] = Field(default=["torch", "numpy"])
    workers: int = 0
    _pool: Pool | None = PrivateAttr(default=None)

    def open(self) -> Pool:
        """The pool of this run.

        Raises:
            JailUnavailable: no working sandbox. Never to be read as a candidate's failure.
        """
        if self._pool is None:
            from evolake.jail import open_pool

            pool = open_pool(workers=self.workers or settings_module.load().workers, preload=tuple(self.preload))
            self._pool = pool.__enter__()
        return self._pool

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Stop the workers, however the run ended."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            pool.__exit__(None, None, None)
