"""Serve the engines' processes: each is forked from this one, which has imported torch and the engines once.

To import them takes most of a processor second, and every process that judges or measures designs has its own
engine's process, and a new one after each that a design has killed. The server has one thread and runs
nothing of any design. It ends with its standard input, as the forked processes do with theirs.

    request   one message over the socket with three descriptors: standard input, output and error of the new
              process
    replies   its number with a descriptor of the process; after its end how it ended, as
              `subprocess.Popen.returncode` has it
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
import traceback

TIMEOUT_S = 10.0
STANDARD = 3
"""Standard input, output and error, which also are the descriptors of a request."""


def main() -> None:
    """Serve until the standard input ends. argv: the descriptor of the listening socket."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    _warm()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(listener, select.POLLIN)
    under_way: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                if not os.read(0, 1):
                    os._exit(0)
            elif descriptor == listener.fileno():
                with contextlib.suppress(OSError, ValueError):
                    connection, _ = listener.accept()
                    pid, process = _forked(connection)
                    under_way[process] = pid, connection
                    poll.register(process, select.POLLIN)
            else:
                pid, connection = under_way.pop(descriptor)
                poll.unregister(descriptor)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with contextlib.suppress(OSError):  # who asked for it has gone
                    connection.send(b"%d" % code)
                connection.close()
                os.close(descriptor)


def _warm() -> None:
    """Load what each process would load before its first run, and put it out of the garbage collector's
    sight."""
    import torch

    import evolake.designs.engines.isolated_worker as worker
    from evolake.designs.model.put_off_compiler import put_off_compiler

    torch.set_num_threads(1)
    put_off_compiler()
    worker.load()
    gc.collect()
    gc.freeze()


def _forked(connection: socket.socket) -> tuple[int, int]:
    """Return the number and the descriptor of the process that a connection asks for; what it is asked is
    answered. Raises OSError, ValueError."""
    connection.settimeout(TIMEOUT_S)
    _, owner, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    message, ends, *_ = socket.recv_fds(connection, 16, STANDARD)
    try:
        if owner != os.getuid() or message != b"fork" or len(ends) != STANDARD:
            raise ValueError("not a request")
        pid = os.fork()
        if pid == 0:
            _become(ends)
    finally:
        for descriptor in ends:
            os.close(descriptor)
    process = os.pidfd_open(pid)
    with contextlib.suppress(OSError):  # who asked for it has gone: it will end with its input
        socket.send_fds(connection, [b"%d" % pid], [process])
    return pid, process


def _become(ends: list[int]) -> None:
    """Be the process that was asked for, to the end."""
    from evolake.designs.engines import isolated_worker

    code = 1
    try:
        for standard, descriptor in enumerate(ends):
            os.dup2(descriptor, standard)
        os.closerange(STANDARD, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = isolated_worker.serve()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
