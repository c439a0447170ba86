"""What a run leaves warm for the next run of the same process: its jails, and the processes that compute.

Starting them means importing torch again, several times. `evolake run` does the seeds and all cycles of a
line in one process, and every candidate is forked again, so that they may serve one run after another. Of
each sort at most one is kept, and only what has nothing under way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Hashable
from typing import Any, Protocol, runtime_checkable

Kind = tuple[str, *tuple[Hashable, ...]]
"""The sort, and all that makes one usable in place of another."""


@runtime_checkable
class _Idle(Protocol):
    @property
    def idle(self) -> bool: ...


_keeping: list[None] = []
_kept: dict[str, tuple[Kind, Any, Callable[[], None]]] = {}


@contextlib.contextmanager
def between_runs() -> Generator[None]:
    """Until the end of this, what runs leave is kept; then all of it is closed."""
    _keeping.append(None)
    try:
        yield
    finally:
        _keeping.pop()
        if not _keeping:
            while _kept:
                _kept.popitem()[1][2]()


def keep(kind: Kind, thing: object, close: Callable[[], None]) -> bool:
    """Keep it for whoever takes this kind next, in place of what is kept of its sort; whether it was. The
    caller closes what was not."""
    if not _keeping or not isinstance(thing, _Idle) or not thing.idle:
        return False
    if before := _kept.pop(kind[0], None):
        before[2]()
    _kept[kind[0]] = kind, thing, close
    return True


def take(kind: Kind | None) -> Any:
    """Return what is kept of this kind, now the caller's; None if there is none. What is kept of its sort
    and of another kind is closed."""
    if kind is None or kind[0] not in _kept:
        return None
    result, thing, close = _kept.pop(kind[0])
    if result == kind:
        return thing
    close()
    return None
