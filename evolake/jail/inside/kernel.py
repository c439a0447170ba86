"""The few kernel calls that Python has no function for, and the limits a candidate's process gives itself
before the candidate's first line."""

# pathlib would cost every native run its import
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
from typing import Any

from evolake.jail.inside import syscalls

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    22,
    36,
    38,
)
CAPABILITY_VERSION_3 = 0x20080522
CAP_SYS_CHROOT, CAP_SYS_ADMIN = 18, 21
PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00008000, 0x00200000, 0x01000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_VM = 0x10000000, 0x20000000, 0x00020000, 0x00000100
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MNT_DETACH = 2, 4, 4096, 16384, 2
MEBIBYTE = 1 << 20
BEYOND_THE_WATCH = 16
LONG_SORT = 2048
KERNEL_AHEAD = 1.15
"""The kernel counts ticks towards RLIMIT_CPU, and was seen to end a run at nine tenths of its limit."""

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *arguments: int) -> None:
    """`prctl(2)`; raises OSError when the kernel refuses."""
    values = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *values) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def drop_capabilities(*but: int) -> None:
    """Give up every capability except those of `but` that are there: root without them is an ordinary user
    that owns root's files."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    kept = (ctypes.c_uint32 * 6)()
    if but:
        if _libc.capget(header, kept) != 0:
            raise OSError(ctypes.get_errno(), "capget")
        bits = kept[1] & sum(1 << number for number in but)  # permitted, the lower 32
        kept = (ctypes.c_uint32 * 6)(bits, bits, 0, 0, 0, 0)
    if _libc.capset(header, kept) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")


def new_user_namespace() -> None:
    """`unshare(2)` of the user namespace."""
    if _libc.unshare(CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")


def new_mount_namespace() -> None:
    """`unshare(2)` of the mount namespace: the calling process's user namespace owns the new one, and may
    mount in it."""
    if _libc.unshare(CLONE_NEWNS) != 0:
        raise _failure("unshare")


def mount_scratch(place: str, megabytes: int) -> None:
    """Mount an empty file system of this size, in memory, on the folder `place`."""
    options = f"size={megabytes << 20},mode=0755".encode()
    if _libc.mount(b"tmpfs", place.encode(), b"tmpfs", ctypes.c_ulong(MS_NOSUID | MS_NODEV), options) != 0:
        raise _failure(f"mount of {place}")


def bind(source: str, place: str) -> None:
    """Show the folder `source`, with all that is mounted in it, on the folder `place`, too."""
    if _libc.mount(source.encode(), place.encode(), None, ctypes.c_ulong(MS_BIND | MS_REC), None) != 0:
        raise _failure(f"mount of {place}")


def unmount(place: str) -> None:
    """Take away the topmost mount of the folder `place`; its file system goes when no process uses it."""
    if _libc.umount2(place.encode(), MNT_DETACH) != 0:
        raise _failure(f"umount of {place}")


def _failure(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def join_user_namespace(descriptor: int) -> None:
    """`setns(2)` of the user namespace behind `descriptor`."""
    _join(descriptor, CLONE_NEWUSER)


def join_process_namespace(descriptor: int) -> None:
    """`setns(2)` of the process namespace behind `descriptor`, for the children that the calling process will
    make."""
    _join(descriptor, CLONE_NEWPID)


def start_process_namespace(stack: ctypes.Array[ctypes.c_char]) -> int:
    """Return the number of a child that is process 1 of a new process namespace, and waits to be killed.

    It does so in the memory of the calling process, which copies nothing for it, and runs one function of the
    C library there. stack: for it alone until it has been reaped.
    """
    top = (ctypes.addressof(stack) + len(stack)) & ~15
    wait = ctypes.cast(_libc.pause, ctypes.c_void_p)
    result = _libc.clone(wait, ctypes.c_void_p(top), CLONE_NEWPID | CLONE_VM | signal.SIGCHLD, None)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"clone: {os.strerror(number)}")
    return result


def fork_beside() -> bool:
    """Fork a sibling, a child of the calling process's parent, whose process number differs from that of the
    caller; return whether this is it. Raises OSError where the kernel has no CONFIG_CHECKPOINT_RESTORE.

    The C library's fork makes children only. It also lets the kernel write the number of the new process to
    where the library keeps it, as is done here, too. The caller does not get that number: nothing of it may
    be in memory that is copied later.
    """
    place, own, python = ctypes.c_void_p(), os.getpid(), ctypes.pythonapi
    prctl(PR_GET_TID_ADDRESS, ctypes.addressof(place))
    flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | signal.SIGCHLD
    call = ctypes.pythonapi.syscall  # it keeps the interpreter's lock
    call.restype = None
    # the last argument stands for x86_64 before that of the thread's storage, for aarch64 behind it
    values = [
        ctypes.c_ulong(value)
        for value in (syscalls.number("clone") or 0, flags, 0, 0, *[place.value or 0] * 2)
    ]
    python.PyOS_BeforeFork()
    call(*values)
    if os.getpid() == own:
        python.PyOS_AfterFork_Parent()
        return False
    python.PyOS_AfterFork_Child()
    return True


def sort_once() -> None:
    """Sort something with the C library, which asks for the machine's memory at its first longer sort (before
    glibc 2.37) and keeps the answer: candidates may not ask for it."""
    _libc.qsort(ctypes.create_string_buffer(LONG_SORT), LONG_SORT, 1, _libc.strcmp)


def give_back_memory() -> None:
    """Give the kernel back what the C library keeps of memory that was freed: each fork would copy the tables
    of those pages, and each end of a forked process take them down. A C library without the function keeps
    them."""
    if (trim := getattr(_libc, "malloc_trim", None)) is not None:
        trim(0)


def _join(descriptor: int, kind: int) -> None:
    if _libc.setns(descriptor, kind) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


def address_space() -> int:
    """Return the number of bytes of address space that the calling process has mapped."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


mapped_before_any_candidate = 0


def note_address_space() -> None:
    """Remember what the server has mapped: that much is not charged to a candidate forked from it."""
    global mapped_before_any_candidate
    mapped_before_any_candidate = address_space()


def shared_memory() -> list[str]:
    """Return the lines of /proc/self/maps for memory that a forked child would share with this process and
    could write."""
    with open("/proc/self/maps") as file:
        return [line.strip() for line in file if line.split()[1].endswith("s") and "w" in line.split()[1]]


def threads() -> int:
    """Return threads of the calling process."""
    return len(os.listdir("/proc/self/task"))


def limit_values(limits: dict[str, Any], *, above: int = 0) -> dict[int, tuple[int, int]]:
    """Return the kernel's part of `Limits` as (soft, hard) values. `above`: bytes already mapped that are not
    charged to the candidate."""
    whole_seconds = math.ceil(limits["cpu_s"] * KERNEL_AHEAD)
    memory = above + int(limits["memory_mb"] * MEBIBYTE)
    size = int(limits["file_mb"] * MEBIBYTE)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = limits["open_files"] if hard == resource.RLIM_INFINITY else min(limits["open_files"], hard)
    return {
        resource.RLIMIT_CPU: (whole_seconds, whole_seconds + 1),
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (size, size),
        resource.RLIMIT_NOFILE: (files, files),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_SIGPENDING: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),  # the kernel counts them for all processes of one user
    }


def set_limits(limits: dict[str, Any], *, above: int) -> None:
    """Apply the kernel's part of `Limits` to the calling process. `above`: as for `limit_values`."""
    for name, values in limit_values(limits, above=above).items():
        resource.setrlimit(name, values)


def set_most_processes(processes: int) -> None:
    """RLIMIT_NPROC for a program in its own namespaces: itself, the server, `processes` more, and so many
    that the watch finds them too many before the kernel refuses another. Kernels before 5.14, which count the
    user's processes everywhere, are left to the watch."""
    if tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2]) >= (5, 14):
        most = processes + 2 + BEYOND_THE_WATCH
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
