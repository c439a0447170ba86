"""Locks: one writer per partition, one running cycle per line, one for each run; and the fencing token that
outlives a lost lock.

A lock is an advisory lock on a file (filelock: flock, which NFS from version 4 on keeps at the server, so
that it holds over hosts), so it dies with its process. Next to it is a note that names the holder, for the
error that the loser gets. A lock can still be lost without its holder noticing (a network file system, a
suspended machine), so each writer of a partition also takes a token from a counter that only grows, and asks
just before it puts bytes in place whether its token is still the newest. A run that holds a line has such a
token as well (`lease`): after another has taken the line, on whatever host, it publishes and seals nothing
any more.

Each run that has its own process holds a lock named after it until that process ends, however it ends: a run
that has not ended and whose lock is free is dead. The file stays behind as the evidence that the run once
lived, until a process that knows that the run has ended removes it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from evolake.errors import InputError, LakeError, PartitionBusy
from evolake.lake import disk
from evolake.lake.chained import VERIFY
from evolake.reading.json_text import DIGITS


@contextmanager
def hold(path: Path, *, what: str, run_id: str, timeout_s: float, remove: bool = False) -> Iterator[None]:
    """Hold the lock at `path` while the block runs.

    Args:
        path: the lock file. what: what is locked, for messages.
        run_id: who asks. timeout_s: how long to wait for another holder; 0 is not at all.
        remove: the lock file and its token go when the block ends well. Who waits for a lock asks, once it
            has it, whether its file is still there (filelock does so), and a writer whose token is gone has
            lost its lock (`Fence.check`).

    Raises:
        PartitionBusy: another holder kept it for `timeout_s`; names the holder. LakeError: the lock's file
            cannot be written.
    """
    note = path.with_suffix(".holder")
    require_locks(path.parent)
    lock = FileLock(path, thread_local=False, fallback_to_soft=False)
    with disk.as_lake_error(f"{what} cannot be locked for run {run_id}", f"the lock {path}"):
        disk.make_folder(path.parent)
        try:
            lock.acquire(timeout=timeout_s, poll_interval=0.02)
        except Timeout:
            raise PartitionBusy(
                f"{what} is busy",
                wanted=f"the lock {path} for run {run_id}",
                got=f"it is held by {holder(note)}",
                do="wait until that run has ended, or stop it, and run again",
            ) from None
    try:
        about = {
            "run_id": run_id,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "processes": _processes(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with disk.as_lake_error(f"{what} cannot be locked for run {run_id}", f"to write {note}"):
            disk.write_atomic(note, json.dumps(about).encode(), tag="note")
        yield
        if remove:
            disk.discard(path.with_suffix(".token"))
            disk.discard(path)
    finally:
        disk.discard(note)
        lock.release()


_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


def require_locks(folder: Path) -> None:
    """Check that files in `folder`, or the nearest one above that is there, can be locked.

    Raises:
        LakeError: the file system has no locks. A folder that cannot be written is for others to say.
    """
    place = next((item for item in (folder, *folder.parents) if item.is_dir()), folder)
    try:
        if place.stat().st_dev not in _with_locks:
            with tempfile.TemporaryFile(dir=place) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _with_locks.add(place.stat().st_dev)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise LakeError(
                f"files in {place} cannot be locked",
                wanted="a file system with locks (flock and fcntl), without which two runs would overwrite "
                "each other's work",
                got=error.strerror,
                do="put the lake and DAGSTER_HOME on a local disk, or mount the share with locks (NFS: "
                "without the option nolock)",
            ) from None


_with_locks: set[int] = set()
"""Devices whose files have been locked."""


@contextmanager
def lease(path: Path, *, what: str, run_id: str, timeout_s: float) -> Iterator[None]:
    """As `hold`, with a token that outlives a lost lock: `check_lease` asks for it. Raises as `hold`."""
    with hold(path, what=what, run_id=run_id, timeout_s=timeout_s):
        key = path.resolve()
        with disk.as_lake_error(
            f"{what} cannot be locked for run {run_id}", f"to write {path.with_suffix('.token')}"
        ):
            _leases[key] = Fence.take(path.with_suffix(".token"), at_least=0, what=what, run_id=run_id)
        try:
            yield
        finally:
            _leases.pop(key, None)


def check_lease(path: Path) -> None:
    """Raise PartitionBusy where this process holds the lease at `path` and another has taken it since; who
    holds none is not asked."""
    if fence := _leases.get(path.resolve()):
        fence.check()


def _processes() -> str:
    """Return which processes a process id of ours is one of: this boot of this machine, and in it this
    process namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"


def holder(note: Path) -> str:
    """Return who a lock's note names, in words."""
    try:
        about = json.loads(note.read_bytes())
        return f"run {about['run_id']} (process {about['pid']} on {about['host']}, since {about['since']})"
    except (FileNotFoundError, ValueError, KeyError):
        return "a run that has not signed yet"


@dataclass(frozen=True)
class Holder:
    """Who holds a lock, and since when (UTC)."""

    run_id: str
    pid: int
    host: str
    since: datetime


def held_by(path: Path) -> Holder | None:
    """Return who holds the lock at `path` by its note, without touching the lock; None if none does, or a
    process that could be seen from here and is gone. Of a process of another host or container the note is
    believed."""
    try:
        about = json.loads(path.with_suffix(".holder").read_bytes())
        ours = about["processes"] == _processes()
        result = Holder(
            str(about["run_id"]),
            int(about["pid"]),
            str(about["host"]),
            datetime.fromisoformat(about["since"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if ours:
        try:
            os.kill(result.pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            return result
    return result


class Fence:
    """The fencing token of one writer of one partition."""

    def __init__(self, path: Path, token: int, what: str, run_id: str):
        self._path, self.token, self._what, self._run_id = path, token, what, run_id

    @classmethod
    def take(cls, path: Path, *, at_least: int, what: str, run_id: str) -> Fence:
        """Return the next token of the counter at `path`, above `at_least`; stored before it is used."""
        token = max(_newest(path), at_least) + 1
        disk.write_atomic(path, str(token).encode(), tag="token")
        return cls(path, token, what, run_id)

    def check(self) -> None:
        """Raise PartitionBusy when another writer has taken a newer token, or has ended and removed it: this
        one has lost its lock and must not continue."""
        newest = _newest(self._path)
        if newest != self.token:
            raise PartitionBusy(
                f"{self._what}: run {self._run_id} lost its lock to a newer writer",
                wanted=f"token {self.token} to be the newest",
                got=f"token {newest}" if newest else "none: that writer has ended",
                do="nothing was changed by this run; run it again if its content is still wanted",
            )


_leases: dict[Path, Fence] = {}
"""The leases that this process holds, by lock."""


def _newest(path: Path) -> int:
    try:
        text = disk.read(path)
    except FileNotFoundError:
        return 0
    if not text.isdigit() or len(text) > DIGITS:
        raise LakeError(
            f"the counter of writers {path} is damaged", wanted="a number", got=repr(text[:40]), do=VERIFY
        )
    return int(text)


WAIT_S = 30.0
"""How long a run waits for its own lock: who looks whether it lives holds it for a moment."""


class RunLocks:
    """The locks of the runs that work on one lake.

    Args:
        root: the lake's folder.
    """

    def __init__(self, root: Path):
        self._folder = root / "locks" / "runs"

    def live(self, run_id: str) -> AbstractContextManager[None]:
        """Hold the lock of a run as the run itself. Raises PartitionBusy where another process has held it
        for half a minute."""
        return hold(self._path(run_id), what=f"run {run_id}", run_id=run_id, timeout_s=WAIT_S)

    @contextmanager
    def dead(self, run_id: str) -> Iterator[None]:
        """While the block runs no process lives as this run; its lock's file is gone afterwards.

        Raises:
            PartitionBusy: the run lives.
        """
        path = self._path(run_id)
        with hold(path, what=f"run {run_id}", run_id="bury-dead-runs", timeout_s=0):
            yield
            disk.discard(path)

    def seen(self, run_id: str) -> bool:
        """Return whether the run ever took its lock, and no process has removed its file since."""
        return self._path(run_id).exists()

    def all_seen(self) -> list[str]:
        """Return ids of all runs whose file is there, in order."""
        return sorted(path.stem for path in self._folder.glob("*.lock"))

    def _path(self, run_id: str) -> Path:
        if not run_id or Path(run_id).name != run_id:
            raise InputError(
                "this is no id of a run",
                wanted="an id as Dagster gives it",
                got=repr(run_id),
                do="see the run in the UI",
            )
        return self._folder / f"{run_id}.lock"
