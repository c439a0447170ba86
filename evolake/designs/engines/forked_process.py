"""Ask the server of the engines' processes for one (`evolake.designs.engines.fork_server`), and follow it
until it ends.

A process that runs designs starts a server when it first needs one. The workers that it starts by
`multiprocessing` use the same: its address is in the environment, together with the number of the process
whose workers may use it. Any other process starts its own.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO

ADDRESS = "ENGINES_OF_EVOLAKE"
"""The variable with the address: the number of the process that started the server, a colon, the name of the
socket."""
UNKNOWN = 255
"""Exit code of a process whose server ended before it."""
_LOCK = threading.Lock()
_SERVERS: list[Server] = []


class Server:
    """A server of this process's own. It ends with this process, or by `close`."""

    def __init__(self, module: str, environment: dict[str, str]) -> None:
        self.name = f"\0evolake-engines-{secrets.token_hex(16)}"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self.name)
            listener.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(listener.fileno(),),
                env=environment,
            )

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def last_words(self) -> str:
        """Return the end of what it wrote to its standard error."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 400))
        return " ".join(self._errors.read().decode(errors="replace").split())


class ForkedProcess:
    """One process of a server, as `subprocess.Popen` shows one. stdin, stdout, stderr: descriptors that it
    gets; the caller closes its own."""

    def __init__(self, name: str, stdin: int, stdout: int, stderr: int) -> None:
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._connection.connect(name)
            socket.send_fds(self._connection, [b"fork"], [stdin, stdout, stderr])
        except OSError:
            self._connection.close()
            raise
        self._pid: int | None = None
        self._process: int | None = None
        self._code: int | None = None

    @property
    def pid(self) -> int:
        """Its number; 0 before it has been forked."""
        self.poll()
        return self._pid or 0

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        while self._code is None and _readable(self._connection.fileno(), 0):
            self._hear()
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended. Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or not _readable(self._connection.fileno(), left):
                raise subprocess.TimeoutExpired("a process of the engines", timeout or 0.0)
        assert self._code is not None
        return self._code

    def kill(self) -> None:
        """End it by SIGKILL. One that has not been forked yet ends with its input."""
        if self.poll() is None and self._process is not None:
            try:
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            except ProcessLookupError:
                return

    def close(self) -> None:
        """Follow it no further."""
        self._connection.close()
        if self._process is not None:
            os.close(self._process)
            self._process = None

    def _hear(self) -> None:
        """Read one message of the server; its end is that of a process that it never forked, or that is
        followed no further."""
        try:
            message, descriptors, *_ = socket.recv_fds(self._connection, 32, 1)
        except ConnectionError:
            message, descriptors = b"", []
        if message and self._process is None and len(descriptors) == 1:
            self._pid, (self._process,) = int(message), descriptors
        elif message:
            self._code = int(message)
        else:
            if self._process is not None:  # its server has gone: it has ended, or is ended here
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            self._code = UNKNOWN


def forked(
    module: str, environment: dict[str, str], stdin: int, stdout: int, stderr: IO[bytes]
) -> ForkedProcess:
    """Return a process of the server that this one may use; of one that is started now, if there is none."""
    parent = multiprocessing.parent_process()
    owner, _, name = os.environ.get(ADDRESS, "").partition(":")
    with _LOCK:
        if not _SERVERS and parent is not None and owner == str(parent.pid) and name:
            try:
                return ForkedProcess(f"\0{name}", stdin, stdout, stderr.fileno())
            except ConnectionError:  # it has ended
                pass
        if _SERVERS and not _SERVERS[0].alive:
            _SERVERS.pop().close()
        if not _SERVERS:
            _SERVERS.append(Server(module, environment))
            os.environ[ADDRESS] = f"{os.getpid()}:{_SERVERS[0].name[1:]}"
        return ForkedProcess(_SERVERS[0].name, stdin, stdout, stderr.fileno())


def last_words() -> str:
    """Return the end of what this process's server wrote to its standard error."""
    with _LOCK:
        return _SERVERS[0].last_words() if _SERVERS else ""


def close_server() -> None:
    """End this process's server, if it has one."""
    with _LOCK:
        while _SERVERS:
            _SERVERS.pop().close()
            os.environ.pop(ADDRESS, None)


def _readable(descriptor: int, seconds: float | None) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0, seconds) * 1000))
