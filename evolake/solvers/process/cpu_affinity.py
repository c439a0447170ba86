"""One measured process a core: a process that measures holds a core's lock for as long as the solver runs.

The locks are files that all processes of one user on one host share, so that two pools, two lines or a
cluster's workers on the same host never measure on the same core at the same time. A lock dies with its
process.
"""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evolake.errors import MachineryError

PATIENCE_S = 0.02


def usable_cores() -> list[int]:
    """Return cores that this process may run on."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def held_core(cores: Sequence[int] | None = None, folder: Path | None = None) -> Iterator[int]:
    """Yield a core of `cores` (default: all usable) that no other process measures on; waits until one is
    free.

    Args:
        folder: where the locks are; default: a folder of this user's below the system's temporary folder.
    """
    wanted = list(cores) if cores is not None else usable_cores()
    place = folder or _lock_folder()
    start = os.getpid() % len(wanted)
    while True:
        for core in [*wanted[start:], *wanted[:start]]:
            if (descriptor := _lock(place, core)) is None:
                continue
            try:
                yield core
                return
            finally:
                os.close(descriptor)
        time.sleep(PATIENCE_S)


@contextmanager
def shared_core(cores: Sequence[int] | None = None, folder: Path | None = None) -> Iterator[int]:
    """Yield a core of `cores` (default: all usable), at best one that no other process measures on; never
    waits. For runs whose times are not compared."""
    wanted = list(cores) if cores is not None else usable_cores()
    place = folder or _lock_folder()
    start = random.randrange(len(wanted))
    for core in [*wanted[start:], *wanted[:start]]:
        if (descriptor := _lock(place, core)) is not None:
            try:
                yield core
                return
            finally:
                os.close(descriptor)
    yield wanted[start]


def _lock(place: Path, core: int) -> int | None:
    """Return the descriptor that holds the core's lock, None where another has it."""
    descriptor = os.open(place / str(core), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _lock_folder() -> Path:
    place = Path(tempfile.gettempdir()) / f"evolake-cores-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise MachineryError(
            f"{place} belongs to another user",
            wanted="a folder of our own for the locks of cores",
            do="remove it or set TMPDIR",
        )
    return place
