"""Compaction: the parts of many cycles into few files per table. Content, hashes of record and answers stay
as they are.

    write the file of many cycles, read it again, hold each part in it to its content hash
    append the event to the manifest: from here on the parts are there
    remove the small files

Who is killed before the event leaves a file that no manifest names, which the next compaction puts into
quarantine; who is killed after it leaves small files next to it, which the next one removes. All lines are
locked meanwhile. A file is filled up to FULL_ROWS; the one that is not full yet is written again with what
has come since, so a compaction costs what was added and at most one file per table.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from filelock import FileLock, Timeout

from evolake.errors import LakeError
from evolake.lake import disk, lake_format, layout, packs
from evolake.lake.chained import VERIFY
from evolake.lake.layout import Partition
from evolake.lake.manifest import Partitions
from evolake.lake.manifest_lines import ManifestEntry
from evolake.lake.packs import Member
from evolake.lake.store import Lake, content_of

FULL_ROWS = 1 << 20
FEWEST = 2
"""Fewer parts than these are left as they are."""


@dataclass(frozen=True)
class Compacted:
    """What was done to one table, or would be: parts put together, the files that they are in now, files that
    went, bytes of those and of these."""

    line: str
    asset: str
    parts: int
    files: int
    removed: int
    bytes_before: int
    bytes_after: int | None


@dataclass(frozen=True)
class _Group:
    """Parts of equal columns that go into one file. files: where they are now."""

    entries: tuple[ManifestEntry, ...]
    files: frozenset[Path]


def compact(lake: Lake, *, dry_run: bool = False) -> list[Compacted]:
    """Compact every table, and return those that had something to do. May be cut off anywhere and run
    again.

    Raises:
        PartitionBusy: a line is running. LakeError: a table is damaged, or the disk fails; nothing is lost
            then.
    """
    if dry_run:
        tables = (Partition(lake.root, line, asset, None) for line, asset, _ in layout.manifests(lake.root))
        return [result for table in tables if (result := _table_to_compact(lake, table))]
    with lake.all_lines_lock(run_id="compact"):
        done = []
        for line, asset, _ in layout.manifests(lake.root):
            table = Partition(lake.root, line, asset, None)
            with disk.as_lake_error(
                f"the table {line}.{asset} could not be compacted", f"to write below {table.asset_folder}"
            ):
                if result := _compact_table(lake, table):
                    done.append(result)
        return done


def _table_to_compact(lake: Lake, table: Partition) -> Compacted | None:
    groups = list(_groups(lake, table, lake.manifests.load(table.manifest)))
    old = {path for group in groups for path in group.files}
    size = sum(path.stat().st_size for path in old)
    return (
        Compacted(
            table.line,
            table.asset,
            sum(len(group.entries) for group in groups),
            len(groups),
            len(old),
            size,
            None,
        )
        if groups
        else None
    )


def _compact_table(lake: Lake, table: Partition) -> Compacted | None:
    logs = lake.manifests.load(table.manifest)
    _put_strays_aside(lake, table, logs)
    groups = list(_groups(lake, table, logs))
    before, after = sum(path.stat().st_size for group in groups for path in group.files), 0
    if groups:
        lake_format.mark(lake.root)
    for group in groups:
        after += _write(lake, table, group)
    removed = _sweep(lake, table, lake.manifests.load(table.manifest))
    parts = sum(len(group.entries) for group in groups)
    return (
        Compacted(table.line, table.asset, parts, len(groups), removed, before, after)
        if groups or removed
        else None
    )


def _groups(lake: Lake, table: Partition, logs: Partitions) -> Iterator[_Group]:
    """Yield what belongs together: consecutive cycles of equal columns, up to a full file. Full files stay as
    they are."""
    if None in logs:
        return
    full = {path for path, rows in _rows_of_files(logs).items() if rows >= FULL_ROWS}
    run: list[tuple[ManifestEntry, Path]] = []
    for cycle, log in logs.items():
        entry = log.committed
        if entry is None or log.pending or set(packs.ORIGINS) & entry.columns.keys():
            continue
        partition = Partition(lake.root, table.line, table.asset, cycle)
        place = log.place_of(entry)
        path = place.path if place and not partition.part.exists() else partition.part
        rows = sum(item.record.rows for item, _ in run)
        if run and (
            path in full
            or dict(run[-1][0].columns) != dict(entry.columns)
            or rows + entry.record.rows > FULL_ROWS
        ):
            yield from _worth(run)
            run = []
        if path not in full:
            run.append((entry, path))
    yield from _worth(run)


def _worth(run: list[tuple[ManifestEntry, Path]]) -> Iterator[_Group]:
    files = frozenset(path for _, path in run)
    if len(run) >= FEWEST and len(files) > 1:
        yield _Group(tuple(entry for entry, _ in run), files)


def _rows_of_files(logs: Partitions) -> dict[Path, int]:
    """Rows of each file of many cycles of which something is current."""
    rows: dict[Path, int] = {}
    for log in logs.values():
        if log.committed and (place := log.place_of(log.committed)):
            rows[place.path] = rows.get(place.path, 0) + place.rows
    return rows


def _write(lake: Lake, table: Partition, group: _Group) -> int:
    """Put one file in place and into the manifest; return its size in bytes."""
    members = []
    for entry in group.entries:
        frame = lake.read(table.line, table.asset, entry.record.cycle)
        members.append(Member(entry, frame.select(list(entry.columns))))
    data = packs.encode(members, lake.root)
    sha = hashlib.sha256(data).hexdigest()
    folder = (
        table.asset_folder / f"{layout.MANY}{group.entries[0].record.cycle}-{group.entries[-1].record.cycle}"
    )
    path = folder / f"{sha[:16]}.parquet"
    disk.write_atomic(path, data, tag=f"{os.getpid()}-compact")
    if disk.file_sha(path) != sha:
        raise LakeError(
            f"{path} is not what was written",
            wanted=f"sha256 {sha}",
            got="other bytes",
            do="check the disk, and run again",
        )
    whole, offset = pl.read_parquet(path, hive_partitioning=False), 0
    for member in members:
        _hold(
            member.entry,
            whole[offset : offset + member.frame.height].select(member.frame.columns),
            "what was written",
        )
        offset += member.frame.height
    lake.manifests.note(
        table.manifest,
        [packs.event([(item.entry, item.frame.height) for item in members], path, sha, len(data), lake.root)],
    )
    return len(data)


def _hold(entry: ManifestEntry, frame: pl.DataFrame, what: str) -> None:
    record, got = entry.record, content_of(entry, frame)
    if frame.height != record.rows or got != record.content_sha:
        where = f"{record.line}/{record.asset} cycle {record.cycle}"
        raise LakeError(
            f"{what} of {where} is not its content of record",
            wanted=f"content {record.content_sha}",
            got=f"content {got}",
            do=VERIFY,
        )


def _sweep(lake: Lake, table: Partition, logs: Partitions) -> int:
    """Remove the small files of parts that are in a file with others, and files of which nothing is needed
    any more; return their number."""
    gone, needed = 0, set()
    for cycle, log in logs.items():
        needed |= {place.path for entry in log.commits if (place := log.place_of(entry))}
        partition = Partition(lake.root, table.line, table.asset, cycle)
        if log.committed and log.place_of(log.committed) and partition.folder.exists():
            gone += _remove_small(lake, partition)
    for path in list(packs.files(table.asset_folder)):
        if path not in needed:
            disk.remove(path)
            gone += 1
            if not disk.names(path.parent):
                path.parent.rmdir()
    return gone


def _remove_small(lake: Lake, partition: Partition) -> int:
    """Remove the small files of a part that is in a file with others, unless a writer is running on it;
    return their number."""
    disk.make_folder(partition.lock.parent)
    try:
        with FileLock(partition.lock, timeout=0, thread_local=False, fallback_to_soft=False):
            log, gone = lake.verifier.log(partition), 0
            if log.committed is None or log.pending or log.place_of(log.committed) is None:
                return 0
            if partition.part.exists() and disk.file_sha(partition.part) != log.committed.record.file_sha:
                return 0  # damaged, or of a publication that was cut off: a reader resolves it
            for path in (partition.part, partition.record):
                gone += path.exists()
                disk.remove(path)
            if not disk.names(partition.folder):
                partition.folder.rmdir()
            disk.discard(partition.lock)
            return gone
    except Timeout:
        return 0


def _put_strays_aside(lake: Lake, table: Partition, logs: Partitions) -> None:
    """Move files of many cycles that the manifest does not name to quarantine: their writer died before it
    said what they hold."""
    named = {lake.root / body["path"] for body in logs.packs}
    for leftover in table.asset_folder.glob(f"{layout.MANY}*/.tmp-*"):
        disk.remove(leftover)
    for path in list(packs.files(table.asset_folder)):
        if path not in named:
            disk.make_folder(table.quarantine)
            disk.replace(path, table.quarantine / f"{path.parent.name}-{path.name}")
            disk.sync_folder(table.quarantine)
            if not disk.names(path.parent):
                path.parent.rmdir()
