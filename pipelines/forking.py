"""The process that starts those of lines: it has imported what every line needs, and forks.
`pipelines.fork_client` asks it to.

`python -m pipelines.forking FD MODULE` imports the definitions, Great Expectations and matplotlib once (some
4 seconds of processor time) and forks a process for each request that comes over the socket FD. That process
runs `pipelines.evolve` with the arguments of the request, as a new interpreter would. The process that forks
starts no thread of Python's and opens neither a lake nor Dagster's storage, so that what it forks inherits no
lock. It ends when the socket closes; the processes that it forked end when their standard input does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys

from resources.dagster_internals import SQLITE_STORAGE

PRELOADED = (
    "pipelines.evolve",
    SQLITE_STORAGE,
    "upath.implementations.local",
    "evolake.gates",
    "evolake.report.story",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "matplotlib.lines",
    "matplotlib.patches",
    "matplotlib.ticker",
)
_LARGEST = 1 << 16
_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def preload(module: str) -> None:
    """Import what every line's process needs. What fails here fails again, and is reported, where it is
    used."""
    for name in (*PRELOADED, module):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        from assets.checks import load_expectations

        load_expectations()


def serve(channel: socket.socket) -> list[str] | None:
    """Fork a process for each request. Return its arguments in a process that was forked, and None where the
    channel has closed."""
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
    # A spawned process imports the main module again, by its name or file, and so all of Dagster: it needs
    # nothing of this one.
    __spec__ = None
    del __file__
    sys.exit(main(*sys.argv[1:]))
