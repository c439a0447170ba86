"""A process namespace for each Python candidate, so that its process number and those of its threads do not
depend on any candidate before it.

A process that has joined another process namespace for its children cannot make a new one, and the server of
root's jail may not go back to its own. So a helper, forked while the server is small, makes each namespace
ahead of time by starting that namespace's process 1. The server joins it and forks the candidate as an
ordinary child, which is process 2 there.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from typing import NoReturn

from evolake.jail.inside import kernel
from evolake.jail.inside.descriptors import arrange

CHANNEL = 3
NEXT = b"next"
STACK = 1 << 16


class Numbering:
    """The server's side. Make it before modules are imported; it needs CAP_SYS_ADMIN."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if os.fork() == 0:
                try:
                    arrange({1: 1, 2: 2, CHANNEL: theirs.fileno()})
                    make_namespaces()
                finally:
                    os._exit(1)

    def begin_anew(self) -> None:
        """Let the next child be process 2 of a namespace that nothing has used. Raises OSError when there is
        none to be had."""
        _, descriptors, _, _ = socket.recv_fds(self._channel, len(NEXT), 1)
        if not descriptors:
            raise OSError("the kernel gave no process namespace for a candidate")
        kernel.join_process_namespace(descriptors[0])
        os.close(descriptors[0])
        self._channel.send(NEXT)


def make_namespaces() -> NoReturn:
    """Offer one namespace, keep it until the next is in use, and so on until the server has gone.

    The process is dumpable, so that it may open the namespace of a child that shares its memory. Candidates
    have none of its capabilities, and no way to look into another process.
    """
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.drop_capabilities(kernel.CAP_SYS_ADMIN)
    channel = socket.socket(fileno=CHANNEL)
    stacks = [ctypes.create_string_buffer(STACK) for _ in range(2)]
    in_use = 0
    while True:
        offered = kernel.start_process_namespace(stacks[0])
        descriptor = os.open(f"/proc/{offered}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        socket.send_fds(channel, [NEXT], [descriptor])
        os.close(descriptor)
        if not channel.recv(len(NEXT)):
            os._exit(0)
        if in_use:
            os.kill(in_use, signal.SIGKILL)
            os.waitpid(in_use, 0)
        in_use = offered
        stacks.reverse()
