"""Start native programs one after another for one thread of the supervisor, and account for each: a small
process outside the jail, trusted.

Why not from the supervisor: the kernel's account of a process begins with the memory of the one that started
it, which for the supervisor is that of numpy or torch; and bubblewrap ends without waiting for the process
that waited for the program, so the account goes to the process that adopts that one: this one, as a
subreaper. It reads nothing that a program writes.

The order of a start: bubblewrap builds the namespaces, reports the number of their process 1, and waits on
--block-fd; limits and core are set on that process, to be inherited; then it is let go, forks, and the child
takes the system call filter and becomes the program, process 2 of its namespace.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from evolake.jail import wire
from evolake.jail.inside import kernel, namespaces, seccomp
from evolake.jail.inside.descriptors import arrange

PROGRAM_ID = 2
POLICY = seccomp.Policy(programs=True, threads=False)
INFORMATION, GO, RULES, OUTER, INNER = 3, 4, 5, 6, 7
"""Descriptors of bubblewrap next to the standard ones; the options name them so. The last two are there where
root starts a jail."""
START_TIMEOUT_S = 60.0
CANNOT_EXECUTE = 127


class NotStarted(Exception):
    """bubblewrap ended, or hung, before it had built the jail; what it said is in the run's standard
    error."""


class Running:
    """The run under way. It ends with this process and with the supervisor, which bubblewrap's
    --die-with-parent does not see to where root's jail is another user than the process around it."""

    handle: int | None = None

    def wait(self, control: socket.socket) -> None:
        """Until it has ended, or, since the supervisor has gone, for ever."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        assert self.handle is not None
        poll.register(self.handle, select.POLLIN)
        if self.handle not in [descriptor for descriptor, _ in poll.poll()]:
            self.end()

    def over(self) -> None:
        """Close the handle of a process that has ended."""
        if self.handle is not None:
            os.close(self.handle)
        self.handle = None

    def end(self) -> NoReturn:
        """Kill it, and end this process."""
        if self.handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        os._exit(1)


def main() -> None:
    """Serve runs until the supervisor goes away. argv: the control socket's descriptor."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    running = Running()
    signal.signal(signal.SIGTERM, lambda *_: running.end())
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if namespaces.may_drop_groups():
        os.setgroups([])
    while True:
        message, descriptors = wire.receive(control)
        if message is None:
            return
        if "user_namespaces" in message:
            give_user_namespaces(control, message["user_namespaces"])
            continue
        start = start_in_bubblewrap if message["namespaces"] else start_on_host
        try:
            process, target = start(message, *descriptors)
        except (NotStarted, OSError) as error:
            if isinstance(error, OSError):
                os.write(descriptors[1], f"{error}\n".encode())
            wire.send(control, {"started": False})
            continue
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        running.handle = os.pidfd_open(target)
        wire.send(control, {"started": True, "target": target}, (running.handle,))
        running.wait(control)
        _, status, usage = os.wait4(process, 0)
        with contextlib.suppress(
            ChildProcessError
        ):  # where process 1 was killed, bubblewrap waited for it: the account is in its own
            if target != process:
                _, _, usage = os.wait4(target, 0)
        running.over()
        report = {
            "code": os.waitstatus_to_exitcode(status),
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1024,
        }
        with contextlib.suppress(OSError):  # the supervisor may have gone
            wire.send(control, report)


@functools.cache
def outer_namespace() -> int:
    """Return the one in which all jails of this launcher have their mounts made."""
    return namespaces.outer()


@functools.cache
def inner_namespace(identity: int) -> int:
    """Return the one in which this launcher's runs live, one after another: nothing of a run stays in it."""
    return namespaces.inner(outer_namespace(), identity)


def give_user_namespaces(control: socket.socket, identity: int) -> None:
    """Send descriptors of the outer and a new inner user namespace, for a jail that the supervisor starts
    itself."""
    try:
        inner = namespaces.inner(outer_namespace(), identity)
    except OSError as error:
        wire.send(control, {"failed": str(error)})
        return
    wire.send(control, {}, (outer_namespace(), inner))
    os.close(inner)


def start_in_bubblewrap(message: dict[str, Any], stdout: int, stderr: int) -> tuple[int, int]:
    """Return process numbers of bubblewrap and of the jail's process 1. Raises NotStarted, or OSError if no
    user namespace can be made."""
    users = {}
    if message["identity"] is not None:
        users = {OUTER: outer_namespace(), INNER: inner_namespace(message["identity"])}
    summary, tells = os.pipe()
    waits, lets_go = os.pipe()
    rules = os.memfd_create("rules", os.MFD_CLOEXEC)
    os.write(rules, seccomp.program(POLICY, PROGRAM_ID))
    os.lseek(rules, 0, os.SEEK_SET)
    process = os.fork()
    if process == 0:
        try:
            arrange(
                {1: stdout, 2: stderr, INFORMATION: tells, GO: waits, RULES: rules, **users},
                standard_input=nothing(),
            )
            _restore_signals()
            os.execve(message["argv"][0], message["argv"], {})
        finally:
            os._exit(CANNOT_EXECUTE)
    for descriptor in (tells, waits, rules):
        os.close(descriptor)
    try:
        first = _first_process(summary)
        if first is None:
            os.kill(process, signal.SIGKILL)
            os.wait4(process, 0)
            raise NotStarted
        for name, values in kernel.limit_values(message["limits"]).items():
            resource.prlimit(first, name, values)
        if message["core"] is not None:
            os.sched_setaffinity(first, {message["core"]})
        if not users:
            os.write(lets_go, b"x")
        return process, first  # closing the pipe lets root's jail go
    finally:
        os.close(summary)
        os.close(lets_go)


def nothing() -> int:
    """Return a descriptor to read nothing from; no device of the host, which a program could change by its
    descriptor."""
    reader, writer = os.pipe()
    os.close(writer)
    return reader


def _restore_signals() -> None:
    """Python ignores two signals, and an ignored signal stays so in the program."""
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _first_process(summary: int) -> int | None:
    """Return what bubblewrap reports of its jail's process 1; None when it ends or hangs first."""
    data = b""
    while b"}" not in data:
        ready, _, _ = select.select([summary], [], [], START_TIMEOUT_S)
        chunk = os.read(summary, 4096) if ready else b""
        if not chunk:
            return None
        data += chunk
    return json.loads(data)["child-pid"]


def start_on_host(message: dict[str, Any], stdout: int, stderr: int) -> tuple[int, int]:
    """Return the weaker mode: limits and the filter, no namespaces. Twice the program's process number."""
    process = os.fork()
    if process == 0:
        try:
            arrange({1: stdout, 2: stderr}, standard_input=nothing())
            _restore_signals()
            os.chdir(message["folder"])
            os.setsid()
            if message["core"] is not None:
                os.sched_setaffinity(0, {message["core"]})
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            seccomp.install(POLICY)
            kernel.set_limits(message["limits"], above=0)
            os.execve(message["argv"][0], message["argv"], message["environment"])
        except OSError as error:
            os.write(2, f"{message['complaint']}{message['argv'][0]}: {error.strerror}\n".encode())
            os._exit(1)
        finally:
            os._exit(CANNOT_EXECUTE)
    return process, process


if __name__ == "__main__":
    main()
