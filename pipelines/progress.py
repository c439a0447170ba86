"""Progress of lines on a screen: a line of text for every finished cycle, with its score and gain, and for
each line what it does now.

On a terminal the lines running stand below the text and are kept up to date. Without one, the beginning and
the end of each run are printed, and in between, of each line that has printed nothing for `EVERY_S` seconds,
what it does and how far it is: no stage is silent in a log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event as Flag
from threading import RLock, Thread
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evolake.terminal import as_called
from pipelines.estimate import in_words
from pipelines.events import Event

EVERY_S = 15.0
"""Seconds after which a line that has printed nothing says what it does, if the output is no terminal."""
ALL_DONE = re.compile(r" (\d+) of \1(:|$)")
"""The last that a long asset says of its progress: without a terminal it is printed, with the best so far."""
LONG_S = 5.0
"""Seconds that a step is running before a terminal shows for how long."""


@dataclass(frozen=True)
class _Now:
    """What a line does. at: when its newest event came. since: when the step running began."""

    event: Event
    at: float
    since: float

    def left(self) -> str:
        passed = time.monotonic() - self.at
        return in_words(None if self.event.left_s is None else max(self.event.left_s - passed, 0.0))

    def doing(self, least_s: float = 0.0) -> str:
        """Return the step, how far it is, and for how long it has been running if that is at least
        `least_s`."""
        seconds = time.monotonic() - self.since
        return ", ".join(filter(None, [self.event.text, f"{seconds:.0f} s" if seconds >= least_s else ""]))


class Progress:
    """Shows events, from any thread. Nothing is printed where `quiet`; every asset and check where `verbose`.

    Use it as a context manager around the work: until it is left it draws what each of `lines` does on a
    terminal, and elsewhere prints it every `every_s` seconds.
    """

    def __init__(
        self,
        console: Console,
        lines: Sequence[str] = (),
        *,
        quiet: bool = False,
        verbose: bool = False,
        every_s: float = EVERY_S,
    ):
        self._console, self._quiet, self._verbose, self._every_s = console, quiet, verbose, every_s
        self._printed: dict[str, float] = {}
        self._left = Flag()
        self._beat: Thread | None = None
        self._now: dict[str, _Now | None] = dict.fromkeys(lines)
        self._lock = RLock()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(
                get_renderable=self._table, console=self._console, refresh_per_second=2, transient=True
            )
            self._live.start()
        elif not self._quiet:
            self._beat = Thread(target=self._keep_saying, name="evolake-progress", daemon=True)
            self._beat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        live, self._live = self._live, None
        if live:
            live.stop()
        self._left.set()
        if self._beat:
            self._beat.join()

    def say(self, text: str) -> None:
        """Print a sentence for everybody."""
        if not self._quiet:
            with self._lock:
                self._console.print(as_called(text), highlight=False, markup=False, soft_wrap=True)

    def show(self, event: Event) -> None:
        """Print what happened to a line."""
        with self._lock:
            self._remember(event)
        if event.kind == "ended":
            self.say(
                f"{event.line}: {event.what} in {event.seconds:.0f} s{': ' if event.text else ''}{event.text}"
            )
        elif event.kind == "began" and not self._live:
            self.say(f"{event.line}: {event.what} ({in_words(event.left_s)})")
        elif event.kind == "said" or (event.kind == "detail" and self._verbose):
            self.say(event.text)
        elif event.kind == "working" and not self._live and ALL_DONE.search(event.text):
            self.say(f"{event.line}: {event.what}, {event.text}")

    def _remember(self, event: Event) -> None:
        now = time.monotonic()
        if event.kind in ("began", "ended"):
            self._printed[event.line] = now
        if event.kind == "stopped":
            self._now.pop(event.line, None)
        elif event.kind in ("began", "step"):
            self._now[event.line] = _Now(event, now, now)
        elif event.kind == "working":
            before = self._now.get(event.line)
            self._now[event.line] = _Now(event, now, before.since if before else now)

    def _keep_saying(self) -> None:
        """Print what lines do that have printed nothing for a while, until this is left."""
        while not self._left.wait(self._every_s / 10):
            for text in self._overdue():
                self.say(text)

    def _overdue(self) -> list[str]:
        with self._lock:
            now = time.monotonic()
            late = [
                (line, doing)
                for line, doing in self._now.items()
                if doing and now - self._printed.get(line, now) >= self._every_s
            ]
            self._printed |= {line: now for line, _ in late}
            return [f"{line}: {doing.event.what}, {doing.doing()}" for line, doing in late]

    def _table(self) -> Table:
        """Return what each line does now."""
        with self._lock:
            table = Table.grid(padding=(0, 2))
            for line, now in self._now.items():
                summary = (
                    (now.event.what, now.doing(LONG_S), now.left()) if now else ("waits for its turn", "", "")
                )
                table.add_row(Text(line, style="bold"), *summary)
            return table
