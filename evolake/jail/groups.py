"""The kernel's own account of the memory of one native run and all that it starts: a control group, where
this process can make one.

    evolake-PID-START-NUMBER        of one run; PID and START (in ticks since boot) are those of the process
                                    that made it
        jail                        bubblewrap and the server, without a limit: as the root of the jail's own
                                    view of control groups
        run                         the program, with the limit; it comes in as its first act, by a descriptor
                                    that it does not keep

The jail shows no file system of control groups, so nothing in it can leave its group. If no group can be made
the supervisor's sum (`inside.watch`) is alone; `evolake doctor` says so. Kernel documentation:
`admin-guide/cgroup-v1/memory.rst`, `admin-guide/cgroup-v2.rst`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evolake.jail.inside.kernel import MEBIBYTE

NAME = re.compile(r"evolake-(\d+)-(\d+)-\d+")
JAIL, RUN = "jail", "run"
EVENTS = {1: "memory.oom_control", 2: "memory.events"}
"""The file that counts, under `oom_kill`, the processes of the group that the kernel ended for want of
memory."""
INSIDE = ("/bin/sh", "-c", '{ echo 0 > "$0"; } 2>/dev/null; exec "$@"')
"""Enter the group whose file is the first argument, and become the rest."""
START_TIME = 19
"""Position in /proc/PID/stat after the program's name."""
REMOVAL_S = 1.0
LARGEST_CHARGE = MEBIBYTE
"""Bytes, and plenty: for more at a time the kernel ends nobody."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Place:
    """A folder in which memory groups can be made. version: of control groups, 1 or 2."""

    version: int
    folder: Path


def find(root: Path = Path("/")) -> Place | str:
    """Return where this process can make memory groups, or in words why nowhere. It looks at files below
    `root` only."""
    try:
        lines = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
        mounts = list(_mounts(root))
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    for _, controllers, own in lines:
        if "memory" in controllers.split(","):
            return _version_1(root, mounts, own)
    for number, controllers, own in lines:
        if number == "0" and not controllers:
            return _version_2(root, mounts, own)
    return "this kernel has no control groups for memory"


def _mounts(root: Path) -> Iterator[tuple[str, str, Path]]:
    """(kind, folder of the hierarchy, where it is) of each mounted hierarchy; kind: "cgroup2", or "memory"
    for that one of version 1."""
    for line in (root / "proc/self/mountinfo").read_text().splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind == "cgroup" and "memory" in options.split(","):
            kind = "memory"
        if kind in ("memory", "cgroup2"):
            within, point = (
                re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), word)
                for word in mount.split(" ")[3:5]
            )
            yield kind, within, root / point.lstrip("/")


def _folders(mounts: list[tuple[str, str, Path]], kind: str, own: str) -> list[Path]:
    """Return the group `own` and those above it as far as they are mounted, itself first; empty where it is
    not to be seen."""
    for result, within, point in mounts:
        if result == kind and ".." not in own.split("/") and f"{own}/".startswith(f"{within.rstrip('/')}/"):
            below = Path(own).relative_to(within)
            return [point / below, *(point / above for above in below.parents)]
    return []


def _version_1(root: Path, mounts: list[tuple[str, str, Path]], own: str) -> Place | str:
    folders = _folders(mounts, "memory", own)
    if not folders:
        return f"the own group {own} of version 1 is not mounted"
    folder = folders[0]
    with contextlib.suppress(OSError):
        if (folder / "memory.use_hierarchy").read_text().strip() == "0":
            return f"/{folder.relative_to(root)}: memory.use_hierarchy is 0"
    return _usable(root, Place(1, folder))


def _version_2(root: Path, mounts: list[tuple[str, str, Path]], own: str) -> Place | str:
    """Return the place of a group. One that holds processes can have no groups with limits below it, so
    mostly it is one above the own that hands memory down."""
    folders = _folders(mounts, "cgroup2", own)
    if not folders:
        return f"the own group {own} of version 2 is not mounted"
    for folder in folders:
        if "memory" in _words(folder / "cgroup.subtree_control"):
            return _usable(root, Place(2, folder))
    has = "memory" in _words(folders[0] / "cgroup.controllers")
    top = f"/{folders[0].relative_to(root)}"
    return (
        f"{top}: memory is in cgroup.controllers, but in no cgroup.subtree_control from there up"
        if has
        else f"{top}: it has no memory controller"
    )


def _usable(root: Path, place: Place) -> Place | str:
    if not os.access(place.folder, os.W_OK | os.X_OK) or not os.access(
        place.folder / "cgroup.procs", os.W_OK
    ):
        return f"/{place.folder.relative_to(root)} cannot be written"
    return place


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


class Group:
    """The group of one run, to be closed when its jail has ended. Raises OSError where it cannot be made;
    nothing of it is left then."""

    def __init__(self, place: Place, total_mb: float):
        self._version, self._limit = place.version, int(total_mb * MEBIBYTE)
        self._folder = place.folder / f"evolake-{os.getpid()}-{_started(os.getpid())}-{next(_numbers)}"
        self._run = self._folder / RUN
        self.descriptors: tuple[int, ...] = ()
        """To enter it by, and to see its events by."""
        try:
            self._folder.mkdir()
            if self._version == 2:
                (self._folder / "cgroup.subtree_control").write_text("+memory")
            for name in (JAIL, RUN):
                (self._folder / name).mkdir()
            self._set_limit()
            self.descriptors = (os.open(self._run / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC),)
            self.descriptors += (os.open(self._run / EVENTS[self._version], os.O_RDONLY | os.O_CLOEXEC),)
            if "oom_kill" not in _words(self._run / EVENTS[self._version]):
                raise OSError(errno.ENOTSUP, f"{EVENTS[self._version]} counts no kills before Linux 4.13")
        except BaseException:
            self.close()
            raise

    def _set_limit(self) -> None:
        """Memory and swap together, and the kernel is to kill: a group of version 1 inherits that it only
        waits, or may know no swap."""
        settings = {
            "memory.limit_in_bytes": self._limit,
            "memory.memsw.limit_in_bytes": self._limit,
            "memory.oom_control": 0,
        }
        if self._version == 2:
            settings = {"memory.max": self._limit, "memory.swap.max": 0, "memory.oom.group": 1}
        for number, (name, value) in enumerate(settings.items()):
            if number == 0 or (self._run / name).exists():
                (self._run / name).write_text(str(value))

    def inside(self, argv: Iterable[str]) -> tuple[str, ...]:
        """Return the command line that starts `argv` as the jail of this group."""
        return (*INSIDE, str(self._folder / JAIL / "cgroup.procs"), *argv)

    def peak_mb(self) -> float | None:
        """Return MiB that the program and all it started once held, where they came up to the limit; None
        where they never did, so that a kill by the kernel was for the memory of others."""
        if self._version == 1:  # memory.failcnt stayed 0 on Linux 6.18
            peak = self._number("memory.max_usage_in_bytes") or 0
            return peak / MEBIBYTE if peak >= self._limit - LARGEST_CHARGE else None
        hits, peak = (
            self._number("memory.events", "oom"),
            self._number("memory.peak") or self._limit,
        )  # no memory.peak before Linux 5.19
        return peak / MEBIBYTE if hits else None

    def _number(self, name: str, after: str = "") -> int | None:
        """Return the number in a file of the group, the one behind the word `after` if there are several."""
        words = _words(self._run / name)
        with contextlib.suppress(ValueError, IndexError):
            return int(words[words.index(after) + 1 if after else 0])
        return None

    def close(self) -> None:
        """Remove it. What the kernel is still taking down gets `REMOVAL_S` for that; a group that stays is
        swept when this process has ended."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()
        until = time.monotonic() + REMOVAL_S
        while not _remove(self._folder) and time.monotonic() < until:
            time.sleep(0.002)


def _remove(folder: Path) -> bool:
    """Remove a group and the two below it; False while a process is in one of them."""
    try:
        for path in (folder / RUN, folder / JAIL, folder):
            with contextlib.suppress(FileNotFoundError):
                path.rmdir()
    except OSError:
        return False
    return True


def _started(pid: int) -> str | None:
    """When a process was started, in ticks since boot; None when there is none of this number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[START_TIME]
    except (FileNotFoundError, ProcessLookupError):
        return None


def sweep(folder: Path) -> None:
    """Remove the groups in `folder` whose makers have ended without removing them."""
    for path in folder.glob("evolake-*"):
        if (owner := NAME.fullmatch(path.name)) and _started(int(owner[1])) != owner[2]:
            _remove(path)


@functools.cache
def _place() -> Place | str:
    """`find`, once for each process; what dead processes left is swept then."""
    result = find()
    if isinstance(result, Place):
        sweep(result.folder)
    return result


@contextlib.contextmanager
def group(total_mb: float) -> Iterator[Group | None]:
    """Yield a group with this limit for one run, None if none can be made: that fails no run."""
    place, made = _place(), None
    if isinstance(place, Place):
        with contextlib.suppress(OSError):
            made = Group(place, total_mb)
    try:
        yield made
    finally:
        if made is not None:
            made.close()


def obstacle() -> str | None:
    """Return why no group can be made, None where one can be: it makes one."""
    place = find()
    if isinstance(place, str):
        return place
    try:
        Group(place, 1).close()
    except OSError as error:
        return str(error)
    return None
