"""The two user namespaces of a jail that root starts: an outer one, in which its mounts are made, and an
inner one, in which its processes live.

The outer namespace knows every number that the host knows, one higher, so that root is not root in it and
keeps the namespace's capabilities when it becomes another user. The inner namespace knows one number. Both
are made by small processes that live only until their namespace is open.
"""

# pathlib would cost every native run its import
# ruff: noqa: PTH123

from __future__ import annotations

import contextlib
import os
import signal
import socket

from evolake.jail.inside import kernel

NOBODY = 65534
SHIFT = 1
HIGHEST = 0xFFFFFFFE
"""The highest number a map may hold; the one above means "unchanged"."""
Range = tuple[int, int, int]
"""First number inside, first number outside, how many."""


def identities(kind: str) -> list[Range]:
    """Return what this process's own namespace knows; kind: "uid" or "gid"."""
    with open(f"/proc/self/{kind}_map") as file:
        return [
            (first, outside, count) for first, outside, count in (map(int, line.split()) for line in file)
        ]


def may_drop_groups() -> bool:
    """Return whether root may give up its further groups: not in a user namespace whose groups were mapped by
    an ordinary user, who keeps them."""
    try:
        with open("/proc/self/setgroups") as file:
            return os.geteuid() == 0 and file.read().strip() != "deny"
    except OSError:
        return os.geteuid() == 0


_noted: dict[str, list[Range]] = {}


def note_identities() -> None:
    """Remember what this process's namespace knows, for the processes that it forks: they see no /proc."""
    _noted.update({kind: identities(kind) for kind in ("uid", "gid")})


def noted_users() -> list[Range]:
    """Return the users that were noted, in this process or in one that forked it."""
    return _noted["uid"]


def outer() -> int:
    """Return a descriptor of a new outer namespace. Raises OSError when the kernel refuses."""
    maps = {}
    for kind in ("uid", "gid"):
        lines = [(first + SHIFT, first, min(count, HIGHEST - first)) for first, _, count in identities(kind)]
        maps[kind] = "".join(f"{inside} {outside} {count}\n" for inside, outside, count in lines)
    return _mapped(maps)


def inner(outer: int, identity: int) -> int:
    """Return a descriptor of a new namespace below `outer` in which `identity`, as the host counts, is user
    `nobody`, and no other process exists. Raises OSError.

    Only a process in the outer namespace may write the inner one's map, so one that joins it does all and
    sends the descriptor.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    process = os.fork()
    if process == 0:
        try:
            kernel.join_user_namespace(outer)
            line = f"{NOBODY} {identity + SHIFT} 1\n"
            socket.send_fds(theirs, [b"x"], [_mapped({"uid": line, "gid": line})])
        except OSError as error:
            os.write(2, f"inner user namespace: {error}\n".encode())
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(process, 0)
    if not descriptors:
        raise OSError("no inner user namespace could be made")
    return descriptors[0]


def _mapped(maps: dict[str, str]) -> int:
    """Return a descriptor of a new namespace below that of this process, with the lines of `maps`."""
    made, makes = os.pipe()
    held, holds = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(holds)
            kernel.new_user_namespace()
            os.write(makes, b"x")
            os.read(held, 1)
        finally:
            os._exit(0)
    os.close(makes)
    os.close(held)
    try:
        if not os.read(made, 1):
            raise OSError("the kernel made no user namespace")
        for kind, lines in maps.items():
            with open(f"/proc/{process}/{kind}_map", "w") as file:
                file.write(lines)
        return os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(made)
        os.close(holds)
