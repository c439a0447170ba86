"""The system call filter that a candidate's process gets just before the candidate's first line.

A classic BPF program (kernel documentation, `userspace-api/seccomp_filter`), assembled here so that nothing needs to be installed. It lists
what is forbidden rather than what is allowed: numeric libraries use too many calls for a closed list to stay right, and the file system and
the network are already closed by namespaces. Calls newer than the list are refused (`HIGHEST_KNOWN`). A refused call answers EPERM, so the
candidate sees an ordinary error; only code for a foreign architecture is killed.

Some calls are refused by argument: threads may be made but no processes, a process may signal only itself, limits may be read but not raised.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from typing import NamedTuple

from evolake.jail.inside import syscalls
from evolake.jail.inside.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl

LOAD_WORD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OFFSET_NUMBER, OFFSET_ARCHITECTURE, OFFSET_ARGUMENTS = 0, 4, 16
SECCOMP_MODE_FILTER = 2

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020000
OPEN_FOR_WRITING = 0o3 | 0o100 | 0o1000 | 0o20000000
"""Access mode, O_CREAT, O_TRUNC and the O_TMPFILE bit, equal on both architectures."""
OWNERSHIP_OF_SIGNALS = (8, 10, 15)
"""fcntl F_SETOWN, F_SETSIG, F_SETOWN_EX: they make the kernel send a signal to another process."""
ANYBODY = 0xFFFFFFF1
"""No process has this number."""
PIPE_SIZE = 1031
TERMINAL_INPUT = (0x5412, 0x541C, 0x8901, 0x8902)
"""ioctl TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP."""


class Policy(NamedTuple):
    """What one kind of candidate may do beyond the common rules.

    programs: may execute other programs (a native candidate is itself started so).
    processes: may make processes, and signal those of its own jail where `signals` holds.
    signals: may signal any process it sees; only right in a process namespace of its own.
    threads: may make threads, and choose their processors; without, it stays where the supervisor has pinned it.
    writes: may open files for writing and change the file system, where that is not read-only anyway.
    """

    programs: bool = False
    processes: bool = False
    signals: bool = False
    writes: bool = True
    threads: bool = True


PYTHON_IN_NAMESPACES = Policy()
PYTHON_ON_THE_HOST = Policy(writes=False)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(error: int = errno.EPERM) -> bytes:
    return _step(RETURN, ERRNO | error)


def _low(argument: int) -> bytes:
    return _step(LOAD_WORD, OFFSET_ARGUMENTS + 8 * argument)


def _high(argument: int) -> bytes:
    return _step(LOAD_WORD, OFFSET_ARGUMENTS + 8 * argument + 4)


def _only(name: str, body: bytes) -> bytes:
    """`body` decides calls of `name`, wholly (it ends in a return on every path); other calls skip it."""
    found = syscalls.number(name)
    if found is None:
        return b""
    return _step(JUMP_EQUAL, found, 0, len(body) // 8) + body


def _allow_if_equal(*wanted: tuple[bytes, int]) -> bytes:
    """Allow when every loaded word equals its value; refuse otherwise."""
    body = _step(RETURN, ALLOW)
    refuse_at = 1
    for load, value in reversed(wanted):
        body = load + _step(JUMP_EQUAL, value, 0, refuse_at) + body
        refuse_at += 2
    return body + _refuse()


def _refuse_if_any(load: bytes, values: tuple[int, ...]) -> bytes:
    body = load
    for position, value in enumerate(values):
        body += _step(JUMP_EQUAL, value, len(values) - position, 0)
    return body + _step(RETURN, ALLOW) + _refuse()


def _refuse_if_bits(load: bytes, bits: int) -> bytes:
    return load + _step(JUMP_BITS, bits, 1, 0) + _step(RETURN, ALLOW) + _refuse()


def program(policy: Policy, own_pid: int) -> bytes:
    """The filter as instructions of eight bytes each. `own_pid` is the one process that may be signalled."""
    head = _step(LOAD_WORD, OFFSET_ARCHITECTURE)
    head += _step(JUMP_EQUAL, syscalls.audit_architecture(), 1, 0) + _step(RETURN, KILL_PROCESS)
    head += _step(LOAD_WORD, OFFSET_NUMBER)
    head += _step(JUMP_ABOVE, syscalls.HIGHEST_KNOWN, 0, 1) + _refuse(errno.ENOSYS)

    refused = [*syscalls.NETWORK, *syscalls.OTHER_PROCESSES, *syscalls.NAMESPACES_AND_MOUNTS, *syscalls.KERNEL, *syscalls.LASTING_MEMORY]
    if not policy.programs:
        refused += ["execve", "execveat", "setsid", "setpgid", "setrlimit"]
    if not policy.processes:
        refused += ["fork", "vfork"]
    if not policy.writes:
        refused += syscalls.FILE_CHANGES
    plain = b"".join(_step(JUMP_EQUAL, found, 0, 1) + _refuse() for found in syscalls.numbers(refused))

    rules = _only("clone3", _refuse(errno.ENOSYS))
    if policy.processes:
        rules += _only("clone", _refuse_if_bits(_low(0), CLONE_NAMESPACES))
    elif not policy.threads:
        rules += _only("clone", _refuse())
    else:
        rules += _only("clone", _low(0) + _step(JUMP_BITS, CLONE_THREAD, 1, 0) + _refuse() + _step(RETURN, ALLOW))
    if not policy.signals:
        for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            rules += _only(name, _allow_if_equal((_low(0), own_pid)))
    rules += _only("prlimit64", _allow_if_equal((_low(0), 0), *([] if policy.programs else [(_low(2), 0), (_high(2), 0)])))
    rules += _only("sched_setaffinity", _allow_if_equal((_low(0), 0)) if policy.threads else _refuse())
    for name in ("sched_setscheduler", "sched_setparam", "sched_setattr"):
        rules += _only(name, _allow_if_equal((_low(0), 0)))
    rules += _only("setpriority", _allow_if_equal((_low(0), 0), (_low(1), 0)))
    rules += _only("ioprio_set", _allow_if_equal((_low(0), 1), (_low(1), 0)))
    rules += _only("fcntl", _refuse_if_any(_low(1), (*OWNERSHIP_OF_SIGNALS, PIPE_SIZE)))
    rules += _only("ioctl", _refuse_if_any(_low(1), TERMINAL_INPUT))
    if not policy.writes:
        rules += _only("openat2", _refuse(errno.ENOSYS))
        rules += _only("open", _refuse_if_bits(_low(1), OPEN_FOR_WRITING))
        rules += _only("openat", _refuse_if_bits(_low(2), OPEN_FOR_WRITING))
    return head + rules + plain + _step(RETURN, ALLOW)


@functools.lru_cache
def template(policy: Policy) -> bytes:
    """The filter with ANYBODY where the own process id belongs: assembled once, before the fork, since a call takes but two milliseconds."""
    return program(policy, ANYBODY)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install(policy: Policy) -> None:
    """Confine the calling process, for good. Raises OSError where the kernel has no filters."""
    instructions = template(policy).replace(_step(JUMP_EQUAL, ANYBODY, 0, 1), _step(JUMP_EQUAL, os.getpid(), 0, 1))
    packed = _Program(len(instructions) // 8, instructions)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(packed))
