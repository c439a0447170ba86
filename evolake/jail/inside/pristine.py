"""The process that candidates are forked from: warm, and as it was before any of them.

It has imported the modules, and it does the same few steps for each candidate. It is not their parent: a
candidate is its sibling, a child of the server, which waits for it and accounts for it. So nothing of a
candidate comes into this memory, which the next one begins with: no usage, no reply, no exit code, not even a
process number, which would tell how many threads were made before. What a candidate is asked and allowed it
reads itself, from descriptors that are handed through.
"""

# pathlib would cost every native run its import
# ruff: noqa: PTH123

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
from typing import Any, NoReturn

from evolake.jail import wire
from evolake.jail.inside import candidate, forked, kernel, seccomp
from evolake.jail.inside.numbering import Numbering

CALL, RUN, RUN_WITH_PROCESSES = b"call", b"run", b"run with processes"
FORKED = b"forked"
NEEDED = "this kernel lists no children of a process: it needs CONFIG_CHECKPOINT_RESTORE"


class Pristine:
    """The server's side: it starts the process, which ends with it. numbering: None on the host."""

    def __init__(self, control: socket.socket, numbering: Numbering | None):
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            try:
                control.close()
                self._channel.close()
                serve(theirs, numbering)
            finally:
                os._exit(1)
        theirs.close()
        self._others = _children()

    def import_modules(self, message: dict[str, Any]) -> dict[str, Any]:
        """Let it import what the message names."""
        wire.send(self._channel, message)
        return json.loads(self._answer())

    def fork(self, kind: bytes, message: dict[str, Any], descriptors: list[int]) -> int:
        """Return the process number of a new candidate, a child of this process. message: for the candidate's
        eyes. Raises OSError."""
        text = os.memfd_create("message", os.MFD_CLOEXEC)
        try:
            os.write(text, json.dumps(message).encode())
            socket.send_fds(self._channel, [kind], [text, *descriptors])
        finally:
            os.close(text)
        if (answer := self._answer()) != FORKED:
            raise OSError(answer.decode(errors="replace"))
        for number in _children() - self._others:
            return number
        raise OSError("the kernel made no process for a candidate")

    def _answer(self) -> bytes:
        """Return its next answer; the server ends with it."""
        return self._channel.recv(wire.LONGEST_MESSAGE) or os._exit(1)


def _children() -> set[int]:
    with open("/proc/thread-self/children") as file:
        return set(map(int, file.read().split()))


def serve(channel: socket.socket, numbering: Numbering | None) -> NoReturn:
    """Import and fork until the server has gone."""
    policies = {
        CALL: seccomp.PYTHON_IN_NAMESPACES if numbering else seccomp.PYTHON_ON_THE_HOST,
        RUN: seccomp.FORKED,
        RUN_WITH_PROCESSES: seccomp.FORKED_WITH_PROCESSES,
    }
    while True:
        kind, descriptors, _, _ = socket.recv_fds(channel, wire.LONGEST_MESSAGE, wire.MOST_DESCRIPTORS)
        if not kind:
            os._exit(0)
        if kind not in policies:
            wire.send(channel, _import_modules(**json.loads(kind)))
            continue
        answer, is_candidate = FORKED, False
        try:
            seccomp.template(policies[kind])
            if numbering:
                numbering.begin_anew()
            is_candidate = kernel.fork_beside()
        except OSError as error:
            answer = str(error).encode()
        if is_candidate:
            _become(kind, descriptors, policies[kind])
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(answer)


def _become(kind: bytes, descriptors: list[int], policy: seccomp.Policy) -> NoReturn:
    """Be the candidate: descriptors are its message, request, those of its channel, and those that it writes
    to."""
    text, request, *others, ready = descriptors
    message = json.loads(os.pread(text, os.fstat(text).st_size, 0))
    channel, rest = others[: message["channel"]], others[message["channel"] :]
    if kind == CALL:
        reply, output, error = rest
        ends = candidate.Ends(request, channel, reply, output, error, ready)
        candidate.run(ends, message["limits"], policy, message["root"])
    *group, output, error = rest
    forked.run(forked.Ends(request, channel, output, error, ready, next(iter(group), None)), message, policy)


def _import_modules(op: str, modules: list[str], wanted: list[str]) -> dict[str, Any]:
    """Preload trusted modules, and keep this process fit to fork: one thread, no memory that candidates would
    share, old objects out of the collector's way.

    wanted: further modules, of which those are left out that cannot be imported. A module's `before_forks` is
    called, if it has one.

    Generators are seeded here, so that the same candidate on the same payload draws the same numbers, also
    where it forgets to seed. Some modules (dill, which torch imports where it is installed) ask at import for
    the folder of temporary files, and none in here can be written.
    """
    import tempfile

    tempfile.tempdir = "/tmp"
    try:
        for name in modules:
            getattr(importlib.import_module(name), "before_forks", bool)()
        for name in wanted:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    except Exception as error:  # told to the supervisor, which raises
        return {"failed": f"{name}: {type(error).__name__}: {error}"[:2000]}
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random").seed(
            0
        )  # numpy imports it at first use, which would be in every candidate again
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.default_generator.manual_seed(0)
        torch.backends.cpu.get_cpu_capability()  # it reads /proc, which candidates do not see, and chooses kernels by it  # noqa: E501
    gc.collect()
    kernel.give_back_memory()
    gc.freeze()
    kernel.note_address_space()
    return {"threads": kernel.threads(), "shared": kernel.shared_memory() if modules else []}
