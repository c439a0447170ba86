"""One running jail as the supervisor sees it: start it, prove it, talk to its fork server, kill it whole."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evolake.errors import JailUnavailable
from evolake.jail import bubblewrap, wire
from evolake.jail.backends import Backend
from evolake.jail.bubblewrap import View
from evolake.jail.groups import Group
from evolake.jail.inside.namespaces import may_drop_groups

START_TIMEOUT_S = 180.0
"""Importing torch from a cold, slow disk takes long; a jail that does not answer within this is dead."""


class JailDied(Exception):
    """The jail ended, or no longer answers. Internal: callers see a restart, or JailUnavailable."""


class JailProcess:
    """A jail with a fork server in it. Not for use by two threads at the same time.

    Start it from a thread that lives as long as it does: bubblewrap's --die-with-parent looks at the thread
    that started it. group: the control group that it is to be in, the caller's to close after `kill`.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        scratch_mb: int = 0,
        host_folder: Path | None = None,
        box: list[str] | None = None,
        view: View = View(),
        group: Group | None = None,
    ):
        self.backend = backend
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the jail
        try:
            command = backend.command(
                theirs.fileno(), scratch_mb=scratch_mb, host_folder=host_folder, box=box, view=view
            )
            self.folder, self.root = command.folder, command.root
            argv = command.argv if group is None else group.inside(command.argv)
            self._process = subprocess.Popen(
                argv,
                env=command.environment,
                pass_fds=(theirs.fileno(), *command.descriptors),
                stdin=subprocess.DEVNULL,
                stdout=self._complaints,
                stderr=self._complaints,
                cwd="/",
                start_new_session=True,
                extra_groups=[] if may_drop_groups() else None,
            )
            for descriptor in command.descriptors:
                os.close(descriptor)
        except BaseException:
            self.control.close()
            self._complaints.close()
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """Process id, on the host, of the outermost process of the jail."""
        return self._process.pid

    def begin_import(self, modules: list[str], wanted: Iterable[str] = ()) -> None:
        """Ask the server to import `modules`, and those of `wanted` that can be imported; the answer is
        fetched by `end_import`. Raises JailDied."""
        try:
            wire.send(self.control, {"op": "import", "modules": modules, "wanted": list(wanted)})
        except OSError as error:
            raise JailDied(str(error)) from None

    def end_import(self) -> None:
        """Wait until the modules are imported. Raises JailDied, or JailUnavailable when one cannot be
        imported or cannot live with forks."""
        self.control.settimeout(START_TIMEOUT_S)
        try:
            answer, _ = wire.receive(self.control)
        except TimeoutError:
            answer = None
        if answer is None:
            raise JailDied("the jail ended, or hung, while it imported modules")
        self.control.settimeout(None)
        if "failed" in answer:
            raise JailUnavailable(
                "a module cannot be imported inside the jail",
                got=answer["failed"],
                do="install it, or correct the module's name",
            )
        if answer["threads"] != 1:
            self.kill()
            raise JailUnavailable(
                "preloaded modules run threads, so the jail's server cannot fork safely",
                got=f"{answer['threads']} threads",
            )
        if answer["shared"]:
            self.kill()
            raise JailUnavailable(
                "preloaded modules hold memory that candidates would share, so they could pass messages",
                got=answer["shared"][0],
            )

    @property
    def server(self) -> int | None:
        """Process id, on the host, of the server: process 1 of the jail where it has namespaces. None when it
        has ended."""
        if self.backend.mode != "bubblewrap":
            return self.pid
        with contextlib.suppress(OSError, IndexError):
            return int(Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()[0])
        return None

    def kill(self) -> None:
        """End the jail and everything in it; returns when its outermost process is gone. The server first:
        root's jail is another user than the process around it, whose death the kernel does not signal to
        it."""
        self.control.close()
        if self._process.poll() is None:  # else its number may be another's by now
            if (server := self.server) is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(server, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._complaints.close()

    def failure_to_start(self) -> JailUnavailable:
        """Return the refusal for a jail that died before it was ready, in the words of what it wrote. Ends
        it."""
        deadline = time.monotonic() + 5
        while self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self._complaints.seek(0)
        complaint = self._complaints.read(4000).decode(errors="replace").strip()
        self.kill()
        if self.backend.mode == "bubblewrap" and "Traceback" not in complaint:
            return bubblewrap.explain(complaint)
        return JailUnavailable("the jail's server did not start", got=complaint[-1500:] or "no message")


def request_descriptor(data: bytes) -> int:
    """Return an anonymous file that holds `data`, to be passed into a jail: only the process that it is meant
    for reads it."""
    descriptor = os.memfd_create("evolake-request", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return descriptor


Report = dict[str, Any]
"""The server's word on an ended process: exit_code, signal, cpu_s, peak_mb, excess, out_of_memory, and
`broken` when the jail itself failed."""
