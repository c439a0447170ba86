"""What a line tells while it runs: records that are shown in the process that makes them, or travel to the
one that shows them as JSON lines.

Turns between lines that run side by side: a stage that measures time has the machine to itself, all others
share it. Solvers are ranked by cpu time, and a process that shares caches and memory with strangers takes
more of it. Each measured run has its own core already (`evolake.solvers.measurement.measuring`); this keeps
the other lines of the same `evolake run` from the cores meanwhile. An asset says that it measures time by its
metadata `MEASURES_TIME`. The locks are the operating system's: they go with the process that held them.

While one line has a head start, no such stage begins: it would keep that line from the machine, and everybody
from a first champion.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

HEAD_START = 2
"""Cycles of a run after which a line's head start ends."""
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


class Turns:
    """One line's side: `enter` before a step, `leave` after it. Steps that share the machine are let in
    together; who wants it alone waits for them to leave, and no other process gets in before."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._door = os.open(folder / "door.lock", _FLAGS, 0o600)
        self._room = os.open(folder / "room.lock", _FLAGS, 0o600)
        self._start = os.open(folder / "start.lock", _FLAGS, 0o600)

    def enter(self, *, alone: bool) -> None:
        """Wait for the turn."""
        if alone:  # before the door, so that nobody else is kept waiting meanwhile
            fcntl.flock(self._start, fcntl.LOCK_SH)
            fcntl.flock(self._start, fcntl.LOCK_UN)
        fcntl.flock(self._door, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        finally:
            fcntl.flock(self._door, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Give the turn back; without one it does nothing."""
        fcntl.flock(self._room, fcntl.LOCK_UN)


class HeadStart:
    """The head start of one line, which measures no time itself: from its first run to the end of its cycle
    `HEAD_START`, or its own.

    The process that starts the lines passes every event of theirs to `tell`.
    """

    def __init__(self, folder: Path, line: str):
        folder.mkdir(parents=True, exist_ok=True)
        self._line, self._left = line, HEAD_START
        self._start = os.open(folder / "start.lock", _FLAGS, 0o600)

    def tell(self, event: Event) -> None:
        """Begin or end the head start if an event of its line does."""
        if event.line != self._line or not self._left:
            return
        if event.kind == "began":
            fcntl.flock(self._start, fcntl.LOCK_EX)
        elif event.kind == "ended" and event.what != SEEDS:
            self._left -= 1
        elif event.kind == "stopped":
            self._left = 0
        if not self._left:
            fcntl.flock(self._start, fcntl.LOCK_UN)


SEEDS = "seeds"
"""`what` of a run that makes no cycle."""
Kind = Literal["began", "step", "working", "detail", "ended", "said", "stopped"]


@dataclass(frozen=True)
class Event:
    """One thing that happened to a line.

    kind: began (a run: its seeds or a cycle), step (an asset is running), working (how far that asset is),
    detail (for `-v`), ended (the run
        succeeded), said (for everybody), stopped (the line is at its end, well or badly).
    what: the run, as "cycle 2 of 3". text: the asset (working: and how far it is), the detail, the sentence.
    seconds: how long the run took. left_s: seconds until the line is through with all its cycles, by recorded
    times; None if none are recorded yet.
    """

    line: str
    kind: Kind
    what: str = ""
    text: str = ""
    seconds: float = 0.0
    left_s: float | None = None

    def to_json(self) -> str:
        """Return one line."""
        return json.dumps(asdict(self))


Tell = Callable[[Event], None]


def event_of(text: str) -> Event:
    """Return the event of a line that `to_json` wrote. Raises ValueError or TypeError where it is none."""
    return Event(**json.loads(text))
