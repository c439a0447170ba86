"""Progress of lines on a screen: a line of text for every finished cycle, with its score and gain, and for each line what it does now.

On a terminal the lines at work stand below the text and are kept up to date. Without one, the beginning and the end of each run are told.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import RLock
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pipelines.estimate import in_words
from pipelines.events import Event


@dataclass(frozen=True)
class _Now:
    event: Event
    since: float

    def left(self) -> str:
        passed = time.monotonic() - self.since
        return in_words(None if self.event.left_s is None else max(self.event.left_s - passed, 0.0))


class Progress:
    """Shows events, from any thread. Nothing is printed where `quiet`; every asset and check where `verbose`.

    Use it as a context manager around the work: on a terminal it draws what each of `lines` does, until it is left.
    """

    def __init__(self, console: Console, lines: Sequence[str] = (), *, quiet: bool = False, verbose: bool = False):
        self._console, self._quiet, self._verbose = console, quiet, verbose
        self._now: dict[str, _Now | None] = dict.fromkeys(lines)
        self._lock = RLock()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(get_renderable=self._table, console=self._console, refresh_per_second=2, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        live, self._live = self._live, None
        if live:
            live.stop()

    def say(self, text: str) -> None:
        """A sentence for everybody."""
        if not self._quiet:
            with self._lock:
                self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, event: Event) -> None:
        """What happened to a line."""
        with self._lock:
            self._remember(event)
        if event.kind == "ended":
            self.say(f"{event.line}: {event.what} in {event.seconds:.0f} s{': ' if event.text else ''}{event.text}")
        elif event.kind == "began" and not self._live:
            self.say(f"{event.line}: {event.what} ({in_words(event.left_s)})")
        elif event.kind == "said" or (event.kind == "detail" and self._verbose):
            self.say(event.text)

    def _remember(self, event: Event) -> None:
        if event.kind == "stopped":
            self._now.pop(event.line, None)
        elif event.kind in ("began", "step"):
            self._now[event.line] = _Now(event, time.monotonic())

    def _table(self) -> Table:
        """What each line does now."""
        with self._lock:
            table = Table.grid(padding=(0, 2))
            for line, now in self._now.items():
                summary = (now.event.what, now.event.text, now.left()) if now else ("waits for its turn", "", "")
                table.add_row(Text(line, style="bold"), *summary)
            return table
