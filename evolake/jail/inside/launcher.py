"""Start native programs one after another for one thread of the supervisor, and account for each: a small process outside the jail, trusted.

Why not from the supervisor: the kernel's account of a process begins with the memory of the one that started it, which for the supervisor is that of
numpy or torch; and bubblewrap ends without waiting for the process that waited for the program, so the account goes to whoever adopts that process:
this one, as a subreaper. It reads nothing that a program writes.

The order of a start: bubblewrap builds the namespaces, tells the number of their process 1, and waits on --block-fd; limits and core are set on that
process, to be inherited; then it is let go, forks, and the child takes the system call filter and becomes the program, process 2 of its namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
from typing import Any

from evolake.jail import wire
from evolake.jail.inside import kernel, seccomp
from evolake.jail.inside.descriptors import arrange

PROGRAM_ID = 2
POLICY = seccomp.Policy(programs=True, threads=False)
INFORMATION, GO, RULES = 3, 4, 5
"""Descriptors of bubblewrap beside the standard ones; the options name them so."""
START_TIMEOUT_S = 60.0
CANNOT_EXECUTE = 127


class NotStarted(Exception):
    """bubblewrap ended, or hung, before it had built the jail; what it said is in the run's standard error."""


def main() -> None:
    """Serve runs until the supervisor goes away. argv: the control socket's descriptor."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    while True:
        message, descriptors = wire.receive(control)
        if message is None:
            return
        start = start_in_bubblewrap if message["namespaces"] else start_on_host
        try:
            process, target = start(message, *descriptors)
        except NotStarted:
            wire.send(control, {"started": False})
            continue
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        handle = os.pidfd_open(target)
        wire.send(control, {"started": True, "target": target}, (handle,))
        os.close(handle)
        _, status, usage = os.wait4(process, 0)
        with contextlib.suppress(ChildProcessError):  # where process 1 was killed, bubblewrap waited for it: the account is in its own
            if target != process:
                _, _, usage = os.wait4(target, 0)
        report = {"code": os.waitstatus_to_exitcode(status), "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}
        with contextlib.suppress(OSError):  # the supervisor may have gone
            wire.send(control, report)


def start_in_bubblewrap(message: dict[str, Any], stdout: int, stderr: int) -> tuple[int, int]:
    """Process numbers of bubblewrap and of the jail's process 1. Raises NotStarted."""
    told, tells = os.pipe()
    waits, lets_go = os.pipe()
    rules = os.memfd_create("rules", os.MFD_CLOEXEC)
    os.write(rules, seccomp.program(POLICY, PROGRAM_ID))
    os.lseek(rules, 0, os.SEEK_SET)
    process = os.fork()
    if process == 0:
        try:
            arrange({1: stdout, 2: stderr, INFORMATION: tells, GO: waits, RULES: rules})
            _restore_signals()
            os.execve(message["argv"][0], message["argv"], {})
        finally:
            os._exit(CANNOT_EXECUTE)
    for descriptor in (tells, waits, rules):
        os.close(descriptor)
    try:
        first = _first_process(told)
        if first is None:
            os.kill(process, signal.SIGKILL)
            os.wait4(process, 0)
            raise NotStarted
        for name, values in kernel.limit_values(message["limits"]).items():
            resource.prlimit(first, name, values)
        if message["core"] is not None:
            os.sched_setaffinity(first, {message["core"]})
        os.write(lets_go, b"x")
        return process, first
    finally:
        os.close(told)
        os.close(lets_go)


def _restore_signals() -> None:
    """Python ignores two signals, and an ignored signal stays so in the program."""
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _first_process(told: int) -> int | None:
    """What bubblewrap tells of its jail's process 1; None when it ends or hangs first."""
    data = b""
    while b"}" not in data:
        ready, _, _ = select.select([told], [], [], START_TIMEOUT_S)
        chunk = os.read(told, 4096) if ready else b""
        if not chunk:
            return None
        data += chunk
    return json.loads(data)["child-pid"]


def start_on_host(message: dict[str, Any], stdout: int, stderr: int) -> tuple[int, int]:
    """The weaker mode: limits and the filter, no namespaces. Twice the program's process number."""
    process = os.fork()
    if process == 0:
        try:
            arrange({1: stdout, 2: stderr})
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
