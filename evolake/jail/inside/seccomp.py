"""The system call filter that a candidate's process gets just before the candidate's first line.

A classic BPF program (kernel documentation, `userspace-api/seccomp_filter`), assembled here so that nothing
needs to be installed. It lists what is forbidden rather than what is allowed: numeric libraries use too many
calls for a closed list to stay right, and the file system and the network are already closed by namespaces.
Calls newer than the list are refused (`HIGHEST_KNOWN`). A refused call answers EPERM, so the candidate sees
an ordinary error; only code for a foreign architecture is killed.

Some calls are refused by argument: threads may be made but no processes, a process may signal only itself,
limits may be read but not raised.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Mapping
from typing import NamedTuple

from evolake.jail.inside import syscalls
from evolake.jail.inside.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl

LOAD_WORD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OFFSET_NUMBER, OFFSET_ARCHITECTURE, OFFSET_ARGUMENTS = 0, 4, 16
SECCOMP_MODE_FILTER = 2

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020000
CLONE_PIDFD = 0x00001000
"""It gives a descriptor whose inode number counts the processes and threads of the machine."""
OPEN_FOR_WRITING = 0o3 | 0o100 | 0o1000 | 0o20000000
"""Access mode, O_CREAT, O_TRUNC and the O_TMPFILE bit, equal on both architectures."""
OWNERSHIP_OF_SIGNALS = (8, 10, 15)
"""fcntl F_SETOWN, F_SETSIG, F_SETOWN_EX: they make the kernel send a signal to another process."""
ANYBODY = 0xFFFFFFF1
"""No process has this number."""
PIPE_SIZE = 1031
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""fcntl F_GETLK, F_SETLK, F_SETLKW, F_OFD_*, F_SETLEASE, F_GETLEASE, F_NOTIFY."""
HINTS = (1035, 1036, 1037, 1038)
"""fcntl F_GET_RW_HINT and so on: numbers that a file of the host keeps."""
PAGE_ADVICE = (3, 12, 20, 21)
"""madvise MADV_WILLNEED, MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT: they change what of a file is in memory, or
share pages between processes."""
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
PROT_WRITE = 0x02
AF_UNIX = 1
CONNECTED = tuple(kind | flags for kind in (1, 5) for flags in (0, 0o4000, 0o2000000, 0o2004000))
"""SOCK_STREAM and SOCK_SEQPACKET, with and without SOCK_NONBLOCK and SOCK_CLOEXEC, equal on both
architectures: the ends of such a pair send to each other alone, those of datagrams also to an address."""
COUNTED_OF_SOCKETS, ASKED_OF_SOCKETS = (57, 71, 77), (76,)
"""getsockopt SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD, and setsockopt SO_PASSPIDFD, equal on both
architectures: they give numbers that count sockets, namespaces and processes of the machine."""
OWNER_ARGUMENTS, UNCHANGED = {"chown": 1, "lchown": 1, "fchown": 1, "fchownat": 2}, 0xFFFFFFFF
"""Call that changes an owner -> which argument is the owner; and the owner that means none."""
GROUP = 16
"""Numbers in one group of `by_number`. A jump can skip at most 255 instructions, which are 127 numbers."""
UNIQUE_MOUNT_ID = 0x4000
"""statx STATX_MNT_ID_UNIQUE: a number that counts the mounts of the machine."""
REFUSED_CONTROLS = (
    0x5412,
    0x541C,
    0x8901,
    0x8902,
    0x40086602,
    0x401C5820,
    0x40049409,
    0x4020940D,
    0xC0189436,
    0x80045200,
)
"""ioctl TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP; FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FICLONE, FICLONERANGE,
FIDEDUPERANGE; RNDGETENTCNT."""


class Policy(NamedTuple):
    """What one kind of candidate may do beyond the common rules.

    programs: may execute other programs (a native candidate is itself started so).
    processes: may make processes, and signal those of the same jail if `signals` is set.
    signals: may signal any process it sees; only right in its own process namespace.
    shared_memory: its processes may share files that they can write, which are those of its jail alone, and
    may make pairs of sockets. threads: may make threads, and choose their processors; without, it stays where
    the supervisor has pinned it. writes: may open files for writing, if that is not read-only anyway.
    changes: may change names, owners and modes of files. Times are set by none: where changes are allowed,
    setting them does nothing.
        Neither does a change of owner that names none.
    ends: calls that end it by SIGSYS instead of being refused, so that its caller can run it where they are
    allowed. "clone" is the name for processes.
    """

    programs: bool = False
    processes: bool = False
    signals: bool = False
    writes: bool = True
    changes: bool = False
    threads: bool = True
    shared_memory: bool = False
    ends: tuple[str, ...] = ()


PYTHON_IN_NAMESPACES = Policy()
PYTHON_ON_THE_HOST = Policy(writes=False)
FORKED = Policy(programs=True, changes=True, ends=("execve", *syscalls.MACHINE_LOAD))
"""Of a process that is forked instead of started as a program: it may do what such a program may, and make
none of another program."""
FORKED_WITH_PROCESSES = FORKED._replace(
    ends=(*FORKED.ends, "fork", "vfork", "clone", "kill", "rt_sigqueueinfo", "socketpair", *syscalls.COUNTERS)
)
"""The same, where that program might make processes."""


def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(error: int = errno.EPERM) -> bytes:
    return step(RETURN, ERRNO | error)


def _end_or_refuse(policy: Policy, name: str) -> bytes:
    return step(RETURN, KILL_PROCESS) if name in policy.ends else _refuse()


def _low(argument: int) -> bytes:
    return step(LOAD_WORD, OFFSET_ARGUMENTS + 8 * argument)


def _high(argument: int) -> bytes:
    return step(LOAD_WORD, OFFSET_ARGUMENTS + 8 * argument + 4)


def _only(name: str, body: bytes) -> bytes:
    """`body` decides calls of `name`, wholly (it ends in a return on every path); other calls skip it."""
    result = syscalls.number(name)
    if result is None:
        return b""
    return step(JUMP_EQUAL, result, 0, len(body) // 8) + body


def _allow_if_equal(*wanted: tuple[bytes, int], otherwise: bytes | None = None) -> bytes:
    """Allow when every loaded word equals its value; refuse otherwise, or do what `otherwise` says."""
    body = step(RETURN, ALLOW)
    refuse_at = 1
    for load, value in reversed(wanted):
        body = load + step(JUMP_EQUAL, value, 0, refuse_at) + body
        refuse_at += 2
    return body + (otherwise or _refuse())


def _refuse_if_any(load: bytes, values: tuple[int, ...]) -> bytes:
    body = load
    for position, value in enumerate(values):
        body += step(JUMP_EQUAL, value, len(values) - position, 0)
    return body + step(RETURN, ALLOW) + _refuse()


def _refuse_shared(*, anonymous: bool, written: bool) -> bytes:
    """Refuse memory that is shared with other processes, or with other jails by way of a host's file (a futex
    in it reaches them); memory without a file only where `anonymous`: if there are processes, no account of
    theirs would show it. written: allow files that are mapped to be written, since no file of the host can be
    opened so."""
    if written:
        load = (
            step(JUMP_BITS, MAP_SHARED, 1, 0)
            + step(RETURN, ALLOW)
            + step(JUMP_BITS, MAP_ANONYMOUS, 0, 1)
            + _refuse()
        )
        return _low(3) + load + _low(2) + step(JUMP_BITS, PROT_WRITE, 0, 1) + step(RETURN, ALLOW) + _refuse()
    body = _low(3) + step(JUMP_BITS, MAP_SHARED, 1, 0) + step(RETURN, ALLOW)
    if not anonymous:
        body += step(JUMP_BITS, MAP_ANONYMOUS, 0, 1) + step(RETURN, ALLOW)
    return body + _refuse()


def _allow_socket_pair() -> bytes:
    """Allow a pair of sockets that are connected with each other and nothing else."""
    body = _low(1)
    for place, kind in enumerate(CONNECTED):
        body += step(JUMP_EQUAL, kind, len(CONNECTED) - place, 0)
    return _low(0) + step(JUMP_EQUAL, AF_UNIX, 1, 0) + _refuse() + body + _refuse() + step(RETURN, ALLOW)


def _nothing_if_unchanged(first: int) -> bytes:
    """Do nothing if neither owner nor group is to change: the kernel would set the time of change, also of a
    device that is the host's."""
    body = (
        _low(first) + step(JUMP_EQUAL, UNCHANGED, 0, 3) + _low(first + 1) + step(JUMP_EQUAL, UNCHANGED, 0, 1)
    )
    return body + _refuse(0) + step(RETURN, ALLOW)


def _refuse_if_bits(load: bytes, bits: int) -> bytes:
    return load + step(JUMP_BITS, bits, 1, 0) + step(RETURN, ALLOW) + _refuse()


def by_number(decisions: Mapping[int, bytes]) -> bytes:
    """Return instructions that decide calls by their loaded number, and allow all others.

    The kernel runs a new filter once for every call that there is, for each process that gets it. So a number
    is compared with one group of those decided, and not with all of them. decisions: number -> one
    instruction, a return.
    """
    result, numbers = b"", sorted(decisions)
    for start in range(0, len(numbers), GROUP):
        group = numbers[start : start + GROUP]
        body = b"".join(step(JUMP_EQUAL, number, 0, 1) + decisions[number] for number in group)
        body += step(RETURN, ALLOW)
        result += step(JUMP_ABOVE, group[-1], len(body) // 8, 0) + body
    return result + step(RETURN, ALLOW)


def program(policy: Policy, own_pid: int) -> bytes:
    """Return the filter as instructions of eight bytes each. `own_pid` is the one process that may be
    signalled."""
    head = step(LOAD_WORD, OFFSET_ARCHITECTURE)
    head += step(JUMP_EQUAL, syscalls.audit_architecture(), 1, 0) + step(RETURN, KILL_PROCESS)
    head += step(LOAD_WORD, OFFSET_NUMBER)
    head += step(JUMP_ABOVE, syscalls.HIGHEST_KNOWN, 0, 1) + _refuse(errno.ENOSYS)

    refused = [
        *syscalls.NETWORK,
        *syscalls.OTHER_PROCESSES,
        *syscalls.NAMESPACES_AND_MOUNTS,
        *syscalls.KERNEL,
        *syscalls.LASTING_MEMORY,
    ]
    refused += [*syscalls.SHARED_STATE, "execveat"]
    if not policy.programs:
        refused += syscalls.MACHINE_LOAD
        refused += ["execve", "setsid", "setpgid", "setrlimit"]
    if not policy.processes:
        refused += ["fork", "vfork", *syscalls.COUNTERS]
    if not policy.writes:
        refused += syscalls.WRITING_BY_NAME
    if not policy.changes:
        refused += syscalls.FILE_CHANGES
    refused += [name for name in policy.ends if name not in (*refused, "clone", "kill", "rt_sigqueueinfo")]
    plain = {
        number: _end_or_refuse(policy, name)
        for name in refused
        if (number := syscalls.number(name)) is not None
    }

    rules = _only("clone3", _refuse(errno.ENOSYS))
    if policy.processes:
        rules += _only("clone", _refuse_if_bits(_low(0), CLONE_NAMESPACES | CLONE_PIDFD))
    elif not policy.threads:
        rules += _only("clone", _refuse())
    else:
        without_descriptor = step(JUMP_BITS, CLONE_PIDFD, 1, 0)
        thread = step(JUMP_BITS, CLONE_THREAD, 1, 0) + _end_or_refuse(policy, "clone") + step(RETURN, ALLOW)
        rules += _only("clone", _low(0) + without_descriptor + thread)
    if not policy.signals:
        for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            rules += _only(name, _allow_if_equal((_low(0), own_pid), otherwise=_end_or_refuse(policy, name)))
    rules += _only(
        "prlimit64",
        _allow_if_equal((_low(0), 0), *([] if policy.programs else [(_low(2), 0), (_high(2), 0)])),
    )
    rules += _only("sched_setaffinity", _allow_if_equal((_low(0), 0)) if policy.threads else _refuse())
    for name in ("sched_setscheduler", "sched_setparam", "sched_setattr"):
        rules += _only(name, _allow_if_equal((_low(0), 0)))
    rules += _only("setpriority", _allow_if_equal((_low(0), 0), (_low(1), 0)))
    rules += _only("ioprio_set", _allow_if_equal((_low(0), 1), (_low(1), 0)))
    rules += _only("fcntl", _refuse_if_any(_low(1), (*OWNERSHIP_OF_SIGNALS, PIPE_SIZE, *LOCKS, *HINTS)))
    rules += _only("madvise", _refuse_if_any(_low(2), PAGE_ADVICE))
    rules += _only(
        "mmap",
        _refuse_shared(anonymous=policy.processes or "clone" in policy.ends, written=policy.shared_memory),
    )
    rules += _only(
        "socketpair", _allow_socket_pair() if policy.shared_memory else _end_or_refuse(policy, "socketpair")
    )
    rules += _only("getsockopt", _refuse_if_any(_low(2), COUNTED_OF_SOCKETS))
    rules += _only("setsockopt", _refuse_if_any(_low(2), ASKED_OF_SOCKETS))
    rules += _only("statx", _refuse_if_bits(_low(3), UNIQUE_MOUNT_ID))
    if policy.changes:
        for name in syscalls.FILE_TIMES:
            rules += _only(name, _refuse(0))
        for name, first in OWNER_ARGUMENTS.items():
            rules += _only(name, _nothing_if_unchanged(first))
    rules += _only("ioctl", _refuse_if_any(_low(1), REFUSED_CONTROLS))
    if not policy.writes:
        rules += _only("openat2", _refuse(errno.ENOSYS))
        rules += _only("open", _refuse_if_bits(_low(1), OPEN_FOR_WRITING))
        rules += _only("openat", _refuse_if_bits(_low(2), OPEN_FOR_WRITING))
    return head + rules + by_number(plain)


@functools.lru_cache
def template(policy: Policy) -> bytes:
    """Return the filter with ANYBODY where the own process id belongs: assembled once, before the fork, since
    a call takes but two milliseconds."""
    return program(policy, ANYBODY)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def packed(instructions: bytes) -> _Program:
    """Return `struct sock_fprog` of them."""
    return _Program(len(instructions) // 8, instructions)


def install(policy: Policy) -> None:
    """Confine the calling process, permanently. Raises OSError where the kernel has no filters."""
    instructions = template(policy).replace(
        step(JUMP_EQUAL, ANYBODY, 0, 1), step(JUMP_EQUAL, os.getpid(), 0, 1)
    )
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    filter_ = packed(instructions)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_))
