"""Start the processes of lines through one process that has imported what they need: `pipelines.forking`,
which forks them on request."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from evolake import project
from evolake.errors import MachineryError

_POLL_S = 0.02


@dataclass
class Forked:
    """A process that was forked for another process: what `subprocess.Popen` offers of it.

    pid: of the process. stdin, stdout: the other ends of its own. status: where its exit code comes when it
    has ended.
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
    """The process that forks, started immediately, so that it imports while the caller does. Close it, or use
    it as a context manager.

    module: with the definitions. log: where what it writes to stderr goes.
    """

    def __init__(self, module: str, log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log, self._asking = log, threading.Lock()
        self._channel, theirs = socket.socketpair()
        command = [*project.command("pipelines.forking"), str(theirs.fileno()), module]
        with theirs, log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[theirs.fileno()],
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
                "the process that starts those of the lines has ended",
                got=self._log.read_text(errors="replace")[-2000:].strip(),
                do="run the command again, or run one line at a time: --lines LINE",
            )
        return Forked(
            int(pid),
            os.fdopen(to_stdin, "w", encoding="utf-8"),
            os.fdopen(from_stdout, encoding="utf-8"),
            reported,
        )

    def close(self) -> None:
        """End the process that forks, not those that it forked."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        if self._log.exists() and not self._log.stat().st_size:
            self._log.unlink()
