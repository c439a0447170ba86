"""Run several lines at the same time, each in its own process, as Dagster's runs are: what happens in one
line loses nothing of another.

A line's process is `pipelines.evolve --lines LINE --as-part`, which does the seeds and all cycles of the
line: it writes events as JSON lines on its standard output, then its outcome, and stops if its standard input
ends, so none outlives the process that started it. Contents do not depend on what runs at the same time:
random numbers are keyed by what they are for, stages that measure time have the machine to themselves
(`pipelines.events`), and a line that reads what another makes (`LineSpec.after`) starts when that one has
ended.

The heaviest line (`LineSpec.weight`) takes longest and starts first, and next to it the lightest, which gets
more of the processor than heavier ones while these want it too, and has a head start
(`pipelines.events.HeadStart`): so a first champion is there long before the last. The others follow from the
heaviest on. One line more than there are cores runs at a time, since a step that waits for its turn needs no
core.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from evolake import project
from pipelines.events import Event, Tell, event_of
from pipelines.outcome import MACHINERY_FAILED, STOPPED, Outcome, together

OUTCOME = "outcome "
TAIL = 2000
PATIENCE_S = 5.0
"""How long the processes of all lines may take to end together when the run is stopped. A run may be killed
at any point."""
NICEST = 19
NICER = 2
"""From a line to the next heavier one: a share of the processor smaller by a third, which starves none of its
guards of the clock."""


def order_of(weights: Mapping[str, float], after: Mapping[str, Sequence[str]] | None = None) -> list[str]:
    """Return the order in which lines start: the heaviest, the lightest, then from the heaviest on.

    after: line -> the lines that end before it starts. A line counts with the heaviest of those that wait for
    it, because they end last.
    """
    waiting = {
        line: [weights[other] for other, before in (after or {}).items() if line in before]
        for line in weights
    }
    total = {line: weight + max(waiting[line], default=0.0) for line, weight in weights.items()}
    first, *others = sorted(weights, key=lambda line: (-total[line], line))
    lightest = min(others, key=lambda line: (weights[line], line), default=None)
    return [first, *([lightest] if lightest else []), *(line for line in others if line != lightest)]


def niceness(weights: Mapping[str, float]) -> dict[str, int]:
    """Return line -> niceness: 0 for the lightest, `NICER` more for each step to a heavier one."""
    steps = sorted(set(weights.values()))
    return {line: NICER * steps.index(weight) for line, weight in weights.items()}


def make_nicer(pid: int, by: int) -> None:
    """Let a process give way to others `by` more than it does, as far as that goes; one that has ended
    already gives way to all."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, min(os.getpriority(os.PRIO_PROCESS, pid) + by, NICEST))


@dataclass
class SideBySide:
    """The processes of some lines.

    options: of each process. at_once: how many run at a time; the others wait, in order. after: line -> lines
    that end before it starts. nice: line -> by how much its process is nicer than this one. logs: the folder
    of what they write to stderr.
    """

    options: Sequence[str]
    at_once: int
    after: Mapping[str, Sequence[str]]
    tell: Tell
    logs: Path
    nice: Mapping[str, int] = field(default_factory=dict[str, int])
    _processes: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])
    _stopped: bool = False

    def run(self, lines: Sequence[str]) -> Outcome:
        """All lines to their ends. An interrupt stops every one of them before it is passed on."""
        self.logs.mkdir(parents=True, exist_ok=True)
        places, ended = threading.Semaphore(self.at_once), {line: threading.Event() for line in lines}

        def take_place(line: str) -> Outcome:
            for before in self.after.get(line, ()):
                if before in ended and before != line:
                    ended[before].wait()
            try:
                with places:
                    return self._line(line)
            finally:
                ended[line].set()

        with ThreadPoolExecutor(len(lines), thread_name_prefix="evolake-line") as threads:
            futures = [threads.submit(take_place, line) for line in lines]
            try:
                return together([future.result() for future in futures])
            except BaseException:
                self._stop()
                threads.shutdown(wait=True, cancel_futures=True)
                raise

    def _line(self, line: str) -> Outcome:
        if self._stopped:
            return Outcome({line: []}, exit_code=MACHINERY_FAILED, reason=f"{line}: not started")
        log = self.logs / f"{line}.stderr"
        command = [*project.command("pipelines.evolve"), "--lines", line, "--as-part", *self.options]
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8"
            )
        assert process.stdin and process.stdout
        self._processes.append(process)
        if self._stopped:  # while it was being started
            process.stdin.close()
        # before it has children, which are as nice as it is
        make_nicer(process.pid, self.nice.get(line, 0))
        outcome = Outcome({line: []}, exit_code=MACHINERY_FAILED)
        with process.stdout:
            for text in process.stdout:
                if text.startswith(OUTCOME):
                    outcome = Outcome(**json.loads(text.removeprefix(OUTCOME)))
                else:
                    self.tell(event_of(text))
        code = process.wait()
        process.stdin.close()
        if outcome.exit_code and not outcome.reason:
            said = log.read_text(errors="replace")[-TAIL:].strip()
            outcome.reason = (
                f"{line}: its process ended with {code} before its cycles did{': ' if said else ''}{said}"
            )
        if outcome.exit_code and outcome.reason != STOPPED and not self._stopped:
            self.tell(Event(line, "said", text=f"{line}: stopped. {outcome.reason}"))
        if not log.stat().st_size:
            log.unlink()
        self.tell(Event(line, "stopped"))
        return outcome

    def _stop(self) -> None:
        self._stopped = True
        for process in self._processes:
            if process.poll() is None and process.stdin:
                process.stdin.close()
        deadline = time.monotonic() + PATIENCE_S
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


class Parent:
    """The process that started this one, at the other end of its standard output. Whatever else is printed
    here from now on goes to stderr."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def tell(self, event: Event) -> None:
        """Print an event."""
        print(event.to_json(), file=self._channel, flush=True)

    def leave(self, outcome: Outcome) -> None:
        """How it ended."""
        print(OUTCOME + json.dumps(asdict(outcome)), file=self._channel, flush=True)


@cache
def parent() -> Parent:
    """Return the only parent; made before anything can be printed."""
    return Parent()


def end_with_parent() -> None:
    """Interrupt this process when its standard input ends: whoever started it is gone, or wants it to
    stop."""

    def wait() -> None:
        # unbuffered: a thread that waits in Python's own buffer of stdin would hold its lock when the
        # interpreter ends
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as stdin:
            stdin.readall()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, name="evolake-parent", daemon=True).start()
