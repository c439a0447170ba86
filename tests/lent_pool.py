"""Jails that one worker of the tests opens once and lends to all that ask: tracing a design costs a jail's
start some 3 s, to import torch."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager

from evolake.jail.backends import backend
from evolake.jail.pool import Pool, open_pool

_opened: dict[tuple[str, int, tuple[str, ...]], Pool] = {}


@contextmanager
def lent_pool(
    workers: int = 2, preload: tuple[str, ...] = ("torch", "numpy"), mode: str | None = None
) -> Iterator[Pool]:
    """In place of `evolake.jail.open_pool` in a `with`: opened by the first who asks for these modules, and
    closed at the end of the process."""
    asked = (backend(mode).mode, workers, tuple(preload))
    if asked not in _opened or not _opened[asked].idle:
        _opened[asked] = open_pool(workers, preload, mode, all_at_once=False)
        atexit.register(_opened[asked].close)
    yield _opened[asked]
