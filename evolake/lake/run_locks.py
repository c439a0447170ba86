"""Which runs live: each run that has its own process holds a lock named after it, from its first moment until
that process ends.

The lock is the operating system's, so it goes with the process, however that ends: a run that has not ended
and whose lock is free is dead. The file that a lock was taken on stays behind as the evidence that the run
once lived, until a process that knows that the run has ended removes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from evolake.errors import InputError
from evolake.lake import disk
from evolake.lake.locks import hold

WAIT_S = 30.0
"""How long a run waits for its own lock: who looks whether it lives holds it for a moment."""


class RunLocks:
    """The locks of the runs that work on one lake.

    Args:
        root: the lake's folder.
    """

    def __init__(self, root: Path):
        self._folder = root / "locks" / "runs"

    def live(self, run_id: str) -> AbstractContextManager[None]:
        """Hold the lock of a run as the run itself. Raises PartitionBusy where another process has held it
        for half a minute."""
        return hold(self._path(run_id), what=f"run {run_id}", run_id=run_id, timeout_s=WAIT_S)

    @contextmanager
    def dead(self, run_id: str) -> Iterator[None]:
        """While the block runs no process lives as this run; its lock's file is gone afterwards.

        Raises:
            PartitionBusy: the run lives.
        """
        path = self._path(run_id)
        with hold(path, what=f"run {run_id}", run_id="bury-dead-runs", timeout_s=0):
            yield
            disk.discard(path)

    def seen(self, run_id: str) -> bool:
        """Return whether the run ever took its lock, and no process has removed its file since."""
        return self._path(run_id).exists()

    def all_seen(self) -> list[str]:
        """Return ids of all runs whose file is there, in order."""
        return sorted(path.stem for path in self._folder.glob("*.lock"))

    def _path(self, run_id: str) -> Path:
        if not run_id or Path(run_id).name != run_id:
            raise InputError(
                "this is no id of a run",
                wanted="an id as Dagster gives it",
                got=repr(run_id),
                do="see the run in the UI",
            )
        return self._folder / f"{run_id}.lock"
