"""Who a jail's processes are on the host: never its root, and for root a user that owns no file; and which
Python runs inside: the supervisor's.

An ordinary user's jail is that user. Root's jail is one of many numbers that no user, service or container is
given, drawn again for each jail: it owns nothing on the host, so that no mode, owner or time of a host file
can be changed by it, and the kernel's quotas per user are its own. Root builds the jail's mounts in an outer
user namespace, where its files can be opened; the processes end up in an inner one that knows only that
number.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import evolake
from evolake.jail.inside.namespaces import Range, identities
from evolake.scratch import Scratch

PREFERRED = (range(1_879_048_192, 2_147_483_648), range(61_184, 65_520))
"""Numbers that Linux distributions assign to nobody lasting; the second where a container knows no larger
ones (systemd's table of user ids)."""


def drawn() -> int | None:
    """Return a number for a new jail, both its user's and its group's; None where this process is an
    ordinary user, or root of a namespace that knows no other.
    """
    return choose(identities("uid"), identities("gid")) if os.geteuid() == 0 else None


def choose(users: Iterable[Range], groups: Iterable[Range]) -> int | None:
    """Return one of PREFERRED that both maps know, by chance; None when there is none."""
    known = [_overlap(_inside(user), _inside(group)) for user in users for group in groups]
    for preferred in PREFERRED:
        usable = [result for item in known if (result := _overlap(item, preferred))]
        if usable:
            return secrets.choice(usable[0])
    return None


def _inside(known: Range) -> range:
    return range(known[0], known[0] + known[2])


def _overlap(first: range, other: range) -> range:
    return range(max(first.start, other.start), min(first.stop, other.stop))


class Shown:
    """Files of the host for one jail of `identity`. They stay as they are, but what root has written for
    itself alone is shown as a copy, and what the jail may write is lent to its group, until `stack` is
    closed. An ordinary user's jail has the user's own rights."""

    def __init__(self, identity: int | None, stack: contextlib.ExitStack):
        self.identity = identity
        self._stack = stack

    def readable(self, path: Path) -> Path:
        """Return `path`, or a copy that everybody may read and execute as far as its owner may."""
        if self.identity is None:
            return path
        mode = path.stat().st_mode
        everybody = mode | (mode >> 6 & 0o5)
        if everybody == mode:
            return path
        folder = self._stack.enter_context(Scratch("shown"))
        copy = Path(folder) / "file"
        shutil.copyfile(path, copy)
        copy.chmod(everybody & 0o555)
        return copy

    def writable(self, path: Path) -> Path:
        """Return `path`, which the jail may write and no user may execute. It stays root's: only an owner may
        change a file's mode and times."""
        if self.identity is not None:
            before = path.stat()
            os.chown(path, -1, self.identity)
            path.chmod(0o660)
            self._stack.callback(self._back, path, before)
        return path

    @staticmethod
    def _back(path: Path, before: os.stat_result) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.chown(path, -1, before.st_gid)
            path.chmod(before.st_mode & 0o7777)


def interpreter() -> tuple[str, list[str]]:
    """Return the running interpreter's real path, and the folders that evolake and its dependencies are
    imported from."""
    package_parent = str(Path(evolake.__file__).resolve().parent.parent)
    folders = [
        package_parent,
        *(entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}),
    ]
    return os.path.realpath(sys.executable), list(dict.fromkeys(folders))
