"""How far a long asset is: reported to the log of its run, and to the display of the progress of runs in this
process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

Listener = Callable[[str], None]
_listeners: list[Listener] = []


def report(text: str) -> None:
    """Send a sentence such as `class 3 of 39` to all listeners."""
    for listener in tuple(_listeners):
        listener(text)


@contextmanager
def reported_to(listener: Listener) -> Generator[None]:
    """Call `listener` with everything that assets of this process report, until the end of this."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
