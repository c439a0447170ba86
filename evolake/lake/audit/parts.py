"""One partition against its manifest: unfinished publications, the part's bytes and rows, the record next to
it, what it superseded, its token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
from filelock import FileLock, Timeout

from evolake.errors import LakeError
from evolake.lake import disk, layout
from evolake.lake.audit import part_repair
from evolake.lake.audit.findings import BACKUP, Finding
from evolake.lake.audit.manifest_repair import read_record
from evolake.lake.layout import Partition
from evolake.lake.manifest import PartitionLog
from evolake.lake.manifest_lines import ManifestEntry
from evolake.lake.packs import Packed
from evolake.lake.store import Lake, content_of
from evolake.reading.numbers import DIGITS


def check_partition(lake: Lake, partition: Partition, fast: bool) -> Iterator[Finding]:
    """Yield findings of one partition that the manifest names. A partition whose writer is running is left
    alone."""
    if _busy(partition):
        return
    log = lake.verifier.log(partition)
    where = partition.part.relative_to(lake.root).as_posix()
    if log.pending:
        yield Finding(
            "unfinished",
            f"a publication of {partition} was cut off",
            where,
            "a commit after each intent",
            f"an intent of run {log.pending[0].record.run_id} without one",
            f"materialize {partition} again",
            repair=lambda: part_repair.finish(lake, partition),
        )
    if log.committed is None and not partition.part.exists():
        return
    place = log.place_of(log.committed) if log.committed and not partition.part.exists() else None
    if place:
        yield from _in_file(lake, partition, log, place, fast)
        yield from _token(lake, partition, log)
        return
    held, got = _held(lake, partition, log, fast)
    if held is None:
        wanted = log.committed.record.file_sha if log.committed else "nothing"
        source = part_repair.copy_of(lake, partition, wanted)
        mends = source is not None or partition.part.exists()
        yield Finding(
            "part",
            f"the part of {partition} is {'damaged' if partition.part.exists() else 'missing'}",
            where,
            f"sha256 {wanted}",
            got,
            f"materialize {partition} again",
            repair=(lambda: part_repair.put_right(lake, partition)) if mends else None,
        )
        return
    yield from _record(lake, partition, held)
    yield from _token(lake, partition, log)
    if not fast and (summary := _rows(partition, held)):
        yield Finding(
            "part",
            f"the rows of {partition} are not those that its record names",
            where,
            *summary,
            f"materialize {partition} again",
        )


def _in_file(
    lake: Lake, partition: Partition, log: PartitionLog, place: Packed, fast: bool
) -> Iterator[Finding]:
    """Yield findings of a part that is in a file with others."""
    where = place.path.relative_to(lake.root).as_posix()
    try:
        got = f"{place.path.stat().st_size} bytes" if fast else f"sha256 {lake.verifier.shas.of(place.path)}"
    except FileNotFoundError:
        got = "no file"
    wanted = f"{place.size} bytes" if fast else f"sha256 {place.file_sha}"
    if got != wanted:
        yield Finding(
            "part",
            f"the file that holds {partition} with others is damaged or missing",
            where,
            wanted,
            got,
            BACKUP,
        )
    elif not fast:
        try:
            lake.read(partition.line, partition.asset, partition.cycle)
        except LakeError as error:
            yield Finding(
                "part",
                f"the rows of {partition} are not those that its record names",
                where,
                error.wanted or "",
                error.got or "",
                f"materialize {partition} again",
            )


def _held(
    lake: Lake, partition: Partition, log: PartitionLog, fast: bool
) -> tuple[ManifestEntry | None, str]:
    """Return (the entry whose bytes the partition holds, what it holds). Fast: by size."""
    candidates = [entry for entry in (log.committed, *log.pending) if entry is not None]
    try:
        if fast:
            size = partition.part.stat().st_size
            return next((entry for entry in candidates if entry.size == size), None), f"{size} bytes"
        sha = disk.file_sha(partition.part)
        return next((entry for entry in candidates if entry.record.file_sha == sha), None), f"sha256 {sha}"
    except FileNotFoundError:
        return None, "no file"


def _record(lake: Lake, partition: Partition, held: ManifestEntry) -> Iterator[Finding]:
    result = read_record(partition)
    if result is None or (result.record != held.record and result.token <= held.token):
        yield Finding(
            "record",
            f"the record next to the part of {partition} is "
            f"{'damaged or gone' if result is None else 'of another part'}",
            partition.record.relative_to(lake.root).as_posix(),
            f"the record of token {held.token}",
            "none" if result is None else f"token {result.token}",
            BACKUP,
            repair=lambda: part_repair.write_record(lake, partition),
        )


def _token(lake: Lake, partition: Partition, log: PartitionLog) -> Iterator[Finding]:
    try:
        text = disk.read(partition.token)
    except FileNotFoundError:
        return
    if not text.isdigit() or len(text) > DIGITS or int(text) < log.last_token:
        yield Finding(
            "token",
            f"the counter of the writers of {partition} is damaged",
            partition.token.relative_to(lake.root).as_posix(),
            f"a number of at least {log.last_token}",
            repr(text[:40]),
            BACKUP,
            repair=lambda: part_repair.write_token(lake, partition),
        )


def _rows(partition: Partition, held: ManifestEntry) -> tuple[str, str] | None:
    """(wanted, got) where the rows are not those of the content hash."""
    with partition.part.open("rb") as opened:
        frame = pl.read_parquet(opened)
    got = content_of(held, frame)
    if frame.height != held.record.rows:
        return f"{held.record.rows} rows", f"{frame.height} rows"
    return (
        None if got == held.record.content_sha else (f"content {held.record.content_sha}", f"content {got}")
    )


def check_history(
    lake: Lake, line: str, asset: str, partitions: Mapping[str | None, PartitionLog], fast: bool
) -> Iterator[Finding]:
    """Yield findings of the superseded parts of one table."""
    folder = Partition(lake.root, line, asset, None).asset_folder / layout.HISTORY
    wanted: set[Path] = set()
    for cycle, log in partitions.items():
        partition = Partition(lake.root, line, asset, cycle)
        for entry in log.commits[:-1]:
            place = log.place_of(entry)
            path = place.path if place else partition.history(entry.token, entry.record.file_sha)
            wanted.add(path)
            got = _superseded(
                path, (place.size, place.file_sha) if place else (entry.size, entry.record.file_sha), fast
            )
            if got and not (got == "no file" and part_repair.known_lost(partition, entry.record.file_sha)):
                yield Finding(
                    "superseded",
                    f"superseded rows of {partition} are {'lost' if got == 'no file' else 'damaged'}",
                    path.relative_to(lake.root).as_posix(),
                    f"sha256 {entry.record.file_sha}",
                    got,
                    BACKUP,
                    repair=lambda partition=partition, entry=entry: part_repair.repair_superseded(
                        lake, partition, entry
                    ),
                )
    with disk.as_lake_error(f"{folder} cannot be listed", "the superseded parts"):
        for path in (
            folder / name / file
            for name in ["", *disk.names(folder)]
            if (folder / name).is_dir()
            for file in disk.names(folder / name)
        ):
            # a publisher gives the part a second name before it replaces it; until then, and after a crash
            # there, that name is early and not stray
            if (
                path.suffix == ".parquet"
                and path not in wanted
                and not any(_is_early(path, log) for log in partitions.values())
            ):
                cycle = path.parent.name.removeprefix("cycle=") if path.parent != folder else None
                yield Finding(
                    "superseded",
                    f"a superseded part of {line}/{asset} of which the manifest knows nothing",
                    path.relative_to(lake.root).as_posix(),
                    "a line of the manifest",
                    "none",
                    BACKUP,
                    repair=lambda path=path, cycle=cycle: part_repair.put_stray_aside(
                        lake, Partition(lake.root, line, asset, cycle), path
                    ),
                )


def _is_early(path: Path, log: PartitionLog) -> bool:
    last = log.committed
    return last is not None and path.name == f"{last.token:06d}-{last.record.file_sha[:16]}.parquet"


def _superseded(path: Path, wanted: tuple[int, str], fast: bool) -> str | None:
    """Return what is wrong with the file of a superseded part, None if nothing is. wanted: its bytes and
    sha256."""
    try:
        if fast:
            return None if path.stat().st_size == wanted[0] else f"{path.stat().st_size} bytes"
        sha = disk.file_sha(path)
        return None if sha == wanted[1] else f"sha256 {sha}"
    except FileNotFoundError:
        return "no file"


def _busy(partition: Partition) -> bool:
    """Return whether a writer holds the partition now."""
    if not partition.lock.exists():
        return False
    try:
        with FileLock(partition.lock, timeout=0, thread_local=False, fallback_to_soft=False):
            return False
    except Timeout:
        return True
