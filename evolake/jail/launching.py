"""The supervisor's end of a launcher: one for each thread that runs native programs, started at first use,
gone with its thread."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from typing import Any

from evolake.errors import JailUnavailable
from evolake.jail import bubblewrap, identity, wire
from evolake.jail.identity import interpreter

SERVER = ("-S", "-s", "-P", "-B", "-m", "evolake.jail.inside.launcher")


class Launcher:
    """A launcher process. identity: who its runs are, one after another (None: the user that this process
    is). Used by the thread that made it only: the kernel ends it when that thread ends."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.busy = False
        self._run = -1
        self.identity = identity.drawn()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        python, folders = interpreter()
        with theirs:
            self._process = subprocess.Popen(
                [python, *SERVER, str(theirs.fileno())],
                env={"PYTHONPATH": folders[0], "LANG": "C.UTF-8"},
                pass_fds=(theirs.fileno(),),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def start(self, message: dict[str, Any], outputs: tuple[int, ...]) -> tuple[int, int] | None:
        """Start a run: number and descriptor (the caller's to close) of the process whose end is the end of
        all; None when bubblewrap failed."""
        self.busy = True
        try:
            wire.send(self.control, message, outputs)
        except OSError as error:
            raise self._died(str(error)) from None
        answer, descriptors = wire.receive(self.control)
        if answer is None:
            raise self._died("it ended while it started a program")
        self.busy = answer["started"]
        if not answer["started"]:
            return None
        self._run = os.dup(descriptors[0])
        return answer["target"], descriptors[0]

    def user_namespaces(self, identity: int) -> tuple[int, int]:
        """Return descriptors (the caller's to close) of the outer and a new inner user namespace for a jail
        that lives as `identity`."""
        try:
            wire.send(self.control, {"user_namespaces": identity})
        except OSError as error:
            raise self._died(str(error)) from None
        answer, descriptors = wire.receive(self.control)
        if answer is None:
            raise self._died("it ended while it made a user namespace")
        if "failed" in answer:
            raise bubblewrap.explain(answer["failed"])
        return descriptors[0], descriptors[1]

    def ended(self) -> dict[str, Any]:
        """Return the account of the run, once `control` is readable: code, cpu_s, peak_mb."""
        report, _ = wire.receive(self.control)
        if report is None:
            raise self._died("it ended during a run")
        self.busy = False
        self._forget_run()
        return report

    def retire_unless_idle(self) -> None:
        """End a launcher whose run was left before its end, and the run with it."""
        if self.busy:
            self.close()

    def close(self) -> None:
        """End it, and with it what it runs."""
        self.control.close()
        if self.owner == os.getpid():  # after a fork it is the other process's child
            self._process.kill()
            self._process.wait()
            if self._run >= 0:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._run, signal.SIGKILL)
        self._forget_run()

    def _forget_run(self) -> None:
        if self._run >= 0:
            os.close(self._run)
        self._run = -1

    @property
    def alive(self) -> bool:
        """Whether this process may use it: an interrupt may have left it in the middle of a run."""
        return (
            self.owner == os.getpid()
            and not self.busy
            and self.control.fileno() >= 0
            and self._process.poll() is None
        )

    def _died(self, how: str) -> JailUnavailable:
        self.close()
        return JailUnavailable(
            "the launcher of native programs failed, so nothing was judged",
            got=how,
            do="run `evolake doctor`",
        )

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


_own = threading.local()


def launcher() -> Launcher:
    """Return this thread's launcher, started when there is none that lives."""
    result: Launcher | None = getattr(_own, "launcher", None)
    if result is None or not result.alive:
        result = _own.launcher = Launcher()
    return result
