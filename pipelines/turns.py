"""Turns between lines that run side by side: a stage that measures time has the machine to itself, all others share it.

Solvers are ranked by cpu time, and a process that shares caches and memory with strangers takes more of it. Each measured run has a core of its own
already (`evolake.solvers.process.cpu_affinity`); this keeps the other lines of the same `evolake run` from the cores meanwhile. An asset says that it
measures time by its metadata `MEASURES_TIME`. The locks are the operating system's: they go with the process that held them.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Turns:
    """One line's side: `enter` before a step, `leave` after it. Steps that share the machine are let in together; who wants it alone waits for them
    to leave, and nobody else gets in before."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._door = os.open(folder / "door.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._room = os.open(folder / "room.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def enter(self, *, alone: bool) -> None:
        """Wait for the turn."""
        fcntl.flock(self._door, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        finally:
            fcntl.flock(self._door, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Give the turn back; without one it does nothing."""
        fcntl.flock(self._room, fcntl.LOCK_UN)
