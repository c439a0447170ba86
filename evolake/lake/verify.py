"""What a partition holds right now: the old content intact, the new content intact, or damage that is moved
to quarantine.

The bytes of the part decide. Bytes of the last commit: that is the content. Bytes of a pending intent: its
writer got as far as the replace, so the reader rolls forward to it. Anything else is damage: the part goes to
quarantine and the reader gets CorruptPart; but a part of which the manifest says nothing at all stays where
it is, for then it is the manifest that has lost something. A publisher may be running meanwhile; a manifest
that has grown since it was read is read again before anything is called damaged, and nothing is moved without
the partition's lock.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import CorruptPart, LakeError, PartitionBusy
from evolake.lake import disk
from evolake.lake.chained import VERIFY
from evolake.lake.layout import Partition
from evolake.lake.locks import hold
from evolake.lake.manifest import EMPTY_LOG, Manifests, PartitionLog
from evolake.lake.manifest_lines import ManifestEntry
from evolake.lake.packs import Packed

_NOT_YET_SETTLED_NS = 100_000_000
_READER = "reader"


class Shas:
    """sha256 of files, remembered while a file's inode, size and times stay as they are.

    Times are as coarse as the kernel's tick, so a file that changed within the last 0.1 s is not remembered.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int, int], str]] = {}
        self._lock = threading.Lock()

    @staticmethod
    def identity(path: Path) -> tuple[int, int, int, int]:
        """Return inode, size, and times of modification and change, of the file that `path` names now."""
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def of(self, path: Path) -> str:
        """Return sha256 hex of the bytes at `path`."""
        before = self.identity(path)
        with self._lock:
            known = self._known.get(path)
        if known and known[0] == before:
            return known[1]
        sha = disk.file_sha(path)
        if self.identity(path) == before and time.time_ns() - max(before[2:]) > _NOT_YET_SETTLED_NS:
            with self._lock:
                self._known[path] = (before, sha)
        return sha


@dataclass(frozen=True)
class VerifiedPart:
    """A verified part: the entry whose bytes it holds, and whether that entry is committed or rolled forward
    to; place: where it is with others."""

    entry: ManifestEntry
    committed: bool
    place: Packed | None = None


class Verifier:
    """Resolves what partitions hold. One a Lake; shared by its readers and publishers."""

    def __init__(self, root: Path, manifests: Manifests, lock_timeout_s: float):
        self._root, self._manifests, self._lock_timeout_s = root, manifests, lock_timeout_s
        self.shas = Shas()

    def log(self, partition: Partition) -> PartitionLog:
        """Return the manifest's account of one partition, re-read when the manifest has grown."""
        return self._manifests.load(partition.manifest).get(partition.cycle, EMPTY_LOG)

    def resolve(self, partition: Partition) -> VerifiedPart | None:
        """Return what the partition holds, verified; None if nothing has been published.

        Raises:
            CorruptPart: the bytes are neither the old content nor the new; they are in quarantine.
        """
        with disk.as_lake_error(f"{partition} cannot be read", f"to read {partition.part}"):
            return self._resolve(partition)

    def _resolve(self, partition: Partition) -> VerifiedPart | None:
        verified, got = self._look(partition)
        if got is None:
            return verified
        log = self.log(partition)
        if log.committed and (place := log.place_of(log.committed)) and not partition.part.exists():
            raise CorruptPart(
                f"the file {place.path}, which holds {partition} with others, is damaged",
                wanted=f"sha256 {place.file_sha}",
                got=got,
                do="restore the file from a backup or a mirror, or materialize each of its cycles again",
            )
        if not log.commits and not log.pending:
            raise LakeError(
                f"the manifest {partition.manifest} has lost {partition}",
                wanted=f"the record of the part {partition.part}",
                got="no line of it",
                do=VERIFY,
            )
        try:
            with hold(partition.lock, what=str(partition), run_id=_READER, timeout_s=self._lock_timeout_s):
                return self.resolve_locked(partition)
        except PartitionBusy as busy:
            raise _damage(
                partition,
                self.log(partition),
                got,
                f"a writer is running ({busy.got}); read again when it has ended",
            ) from None
        except CorruptPart:
            raise
        except (OSError, LakeError) as error:
            raise _damage(
                partition, self.log(partition), got, f"it could not be moved to quarantine ({error})"
            ) from error

    def resolve_locked(self, partition: Partition) -> VerifiedPart | None:
        """Do as `resolve`, for a caller that holds the partition's lock."""
        verified, got = self._look(partition)
        if got is None:
            return verified
        raise _damage(partition, self.log(partition), got, self._put_aside(partition, got))

    def _look(self, partition: Partition) -> tuple[VerifiedPart | None, str | None]:
        """Return (what the bytes are, None), or (None, what is wrong with them)."""
        while True:
            log = self.log(partition)
            try:
                sha = self.shas.of(partition.part)
                got = disk.as_found(sha)
            except FileNotFoundError:
                sha, got = None, "no file"
            place = log.place_of(log.committed) if sha is None and log.committed else None
            if place:
                verified = self._in_file(log, place)
            elif sha is None and not log.commits:
                verified = None, None
            elif log.committed and sha == log.committed.record.file_sha:
                verified = VerifiedPart(log.committed, committed=True), None
            elif rolled := next((entry for entry in log.pending if entry.record.file_sha == sha), None):
                verified = VerifiedPart(rolled, committed=False), None
            else:
                verified = None, got
            if verified[1] is None or self.log(partition) == log:
                return verified

    def _in_file(self, log: PartitionLog, place: Packed) -> tuple[VerifiedPart | None, str | None]:
        """As `_look`, of a part that is in a file with others."""
        try:
            got = self.shas.of(place.path)
        except FileNotFoundError:
            return None, "no file"
        if got != place.file_sha or log.committed is None:
            return None, disk.as_found(got)
        return VerifiedPart(log.committed, committed=True, place=place), None

    def _put_aside(self, partition: Partition, got: str) -> str:
        """Move the damaged part to quarantine with a note, and report it; the caller holds the lock."""
        folder = partition.quarantine
        if not partition.part.exists():
            notes = sorted(folder.glob(f"{partition.cycle or 'whole'}-*.json"))
            return (
                f"it was put aside earlier, see {notes[-1]}"
                if notes
                else "the file is gone and was not put aside by evolake"
            )
        disk.make_folder(folder)
        target = folder / f"{partition.cycle or 'whole'}-{got.removeprefix('sha256 ')[:16]}.parquet"
        committed = self.log(partition).committed
        note = {
            "partition": str(partition),
            "got": got,
            "wanted": committed.record.file_sha if committed else None,
            "run_id": committed.record.run_id if committed else None,
        }
        disk.write_atomic(target.with_suffix(".json"), json.dumps(note, indent=1).encode(), tag=_READER)
        disk.replace(partition.part, target)
        disk.sync_folder(partition.folder)
        disk.sync_folder(folder)
        return f"it has been moved to {target}"


def _damage(partition: Partition, log: PartitionLog, got: str, where: str) -> CorruptPart:
    entry = log.committed
    wanted = "a part that the manifest knows of"
    if entry:
        wanted = (
            f"sha256 {entry.record.file_sha} ({entry.record.rows} rows, {entry.size} bytes, written by "
            f"run {entry.record.run_id})"
        )
    what = f"the part {partition.part} of {partition} is damaged"
    return CorruptPart(what, wanted=wanted, got=f"{got}; {where}", do=f"materialize {partition} again")
