"""Start processes of lines by forking one process that has imported what every line needs.

`python -m pipelines.forking FD MODULE` imports the definitions, Great Expectations and matplotlib once (some 4 seconds of processor time) and forks
a process for each request that comes over the socket FD. That process runs `pipelines.evolve` with the arguments of the request, as a new interpreter
would. The process that forks starts no thread of Python's and opens neither a lake nor Dagster's storage, so that what it forks inherits no lock.
It ends when the socket closes; the processes that it forked end when their standard input does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from evolake import project
from evolake.errors import MachineryError

PRELOADED = (
    "pipelines.evolve", "dagster._core.storage.sqlite_storage", "upath.implementations.local", "evolake.gates", "evolake.report.story",
    "matplotlib.backends.backend_agg", "matplotlib.figure", "matplotlib.lines", "matplotlib.patches", "matplotlib.ticker",
)
_LARGEST = 1 << 16
_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
_POLL_S = 0.02


@dataclass
class Forked:
    """A process that was forked for another process: what `subprocess.Popen` offers of it.

    pid: of the process. stdin, stdout: the other ends of its own. status: where its exit code comes when it has ended.
    """

    pid: int
    stdin: TextIO
    stdout: TextIO
    status: TextIO
    returncode: int | None = None
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal that ended it), or None while it runs."""
        with self._reading:
            if self.returncode is None and select.select([self.status], [], [], 0)[0]:
                # nothing is sent if the process that forked it was killed itself
                self.returncode = int(self.status.readline() or -signal.SIGKILL)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once it has ended.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        began = time.monotonic()
        while (code := self.poll()) is None:
            if timeout is not None and time.monotonic() - began > timeout:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_POLL_S)
        return code

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Forking:
    """The process that forks, started at once, so that it imports while the caller does. Close it, or use it as a context manager.

    module: with the definitions. log: where what it writes to stderr goes.
    """

    def __init__(self, module: str, log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log, self._asking = log, threading.Lock()
        self._channel, theirs = socket.socketpair()
        command = [*project.command("pipelines.forking"), str(theirs.fileno()), module]
        with theirs, log.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, pass_fds=[theirs.fileno()],
            )

    def __enter__(self) -> Forking:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def start(self, arguments: Sequence[str], errors: Path) -> Forked:
        """Start `pipelines.evolve` with these arguments. errors: the file of its standard error.

        Raises:
            MachineryError: the process that forks has ended.
        """
        stdin, to_stdin = os.pipe()
        from_stdout, stdout = os.pipe()
        from_status, status = os.pipe()
        stderr = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        reported = os.fdopen(from_status, encoding="utf-8")
        theirs = [stdin, stdout, stderr, status]
        try:
            with self._asking:  # one request at a time, so that the socket never holds two
                with contextlib.suppress(OSError):
                    socket.send_fds(self._channel, [json.dumps(list(arguments)).encode()], theirs)
                while theirs:
                    os.close(theirs.pop())
                pid = reported.readline()
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        if not pid:
            reported.close()
            os.close(to_stdin)
            os.close(from_stdout)
            raise MachineryError(
                "the process that starts those of the lines has ended", got=self._log.read_text(errors="replace")[-2000:].strip(),
                do="run the command again, or run one line at a time: --lines LINE",
            )
        return Forked(int(pid), os.fdopen(to_stdin, "w", encoding="utf-8"), os.fdopen(from_stdout, encoding="utf-8"), reported)

    def close(self) -> None:
        """End the process that forks, not those that it forked."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        if self._log.exists() and not self._log.stat().st_size:
            self._log.unlink()


def preload(module: str) -> None:
    """Import what every line's process needs. What fails here fails again, and is reported, where it is used."""
    for name in (*PRELOADED, module):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        from assets.checks import load_expectations

        load_expectations()


def serve(channel: socket.socket) -> list[str] | None:
    """Fork a process for each request. Return its arguments in a process that was forked, and None where the channel has closed."""
    handlers = {number: signal.getsignal(number) for number in _HANDLED}
    for number in _HANDLED:
        # What ends the lines is the channel's business; SIGCHLD has to interrupt `select`.
        signal.signal(number, signal.SIG_IGN if number != signal.SIGCHLD else lambda *_: None)
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    status_of: dict[int, int] = {}
    while True:
        ready = select.select([channel, woken], [], [])[0]
        if woken in ready:
            os.read(woken, _LARGEST)
            _report_ended(status_of)
        if channel not in ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(channel, _LARGEST, 4)
        if not request:
            return None
        status = descriptors.pop()
        if (pid := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for own, descriptor in enumerate(descriptors):
                os.dup2(descriptor, own)
            for descriptor in (*descriptors, status, woken, waking, *status_of.values()):
                os.close(descriptor)
            channel.close()
            return json.loads(request)
        for descriptor in descriptors:
            os.close(descriptor)
        status_of[pid] = status
        os.write(status, f"{pid}\n".encode())


def _report_ended(status_of: dict[int, int]) -> None:
    """Send the exit codes of the processes that have ended to whoever asked for them."""
    for pid in list(status_of):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            descriptor = status_of.pop(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(descriptor, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(descriptor)


def main(descriptor: str, module: str) -> int:
    """Import, then fork for each request; in what was forked, run the line."""
    with socket.socket(fileno=int(descriptor)) as channel:
        preload(module)
        arguments = serve(channel)
    if arguments is None:
        return 0
    from pipelines.evolve import entry

    sys.argv[1:] = arguments
    return entry(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
