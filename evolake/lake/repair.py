"""Repair a manifest or a partition: what the records next to the parts prove is noted again, what was begun
is finished, what is elsewhere to the byte is put back, then what is broken is acknowledged. Nothing is
rewritten.

A record holds the whole line of the part's commit under a check sum, with the sha256 of the part's bytes. If
those bytes are next to it, that commit did happen. A part for which nothing speaks goes to quarantine: its
cycle has to be materialized again. A partition is repaired under its lock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from evolake.errors import CorruptPart
from evolake.lake import chained, disk, layout, packs
from evolake.lake.layout import Partition
from evolake.lake.locks import hold
from evolake.lake.manifest import EMPTY_LOG
from evolake.lake.manifest_lines import ABANDONED, COMMIT, ManifestEntry, body_of, entry_of
from evolake.lake.publish import as_commit, as_record
from evolake.lake.store import Lake


def read_record(partition: Partition) -> ManifestEntry | None:
    """Return the entry in the record next to a part; None if there is none or it is damaged."""
    try:
        data = disk.read(partition.record)
        summary = chained.unsigned(data[:-1]) if data.endswith(b"\n") else None
        entry = entry_of(summary, partition.root) if summary else None
    except (OSError, KeyError, TypeError, ValueError):
        return None
    own = entry and (
        entry.record.line,
        entry.record.asset,
        entry.record.cycle,
        entry.event,
        entry.record.path,
    )
    return (
        entry if own == (partition.line, partition.asset, partition.cycle, COMMIT, partition.part) else None
    )


def repair_manifest(lake: Lake, path: Path) -> str:
    """See the module's text. Says what was done.

    Raises:
        PartitionBusy: a writer is running in the table.
    """
    line, asset = path.parent.parent.name, path.parent.name
    lake = Lake(lake.root)
    with (
        ExitStack() as held,
        disk.as_lake_error(f"the manifest {path} cannot be repaired", "to append to it"),
    ):
        present = {
            layout.cycle_of(part): Partition(lake.root, line, asset, layout.cycle_of(part))
            for part in layout.parts(path.parent)
        }
        for partition in present.values():
            held.enter_context(hold(partition.lock, what=str(partition), run_id="verify", timeout_s=0))
        result = lake.manifests.look(path)
        parts: list[str] = []
        again = [
            entry
            for partition in present.values()
            if (entry := _lacking(lake, partition, result.partitions, parts)) is not None
        ]
        bodies: list[dict[str, Any]] = [body_of(entry, lake.root) for entry in again]
        bodies += _of_many(lake, path, result.partitions, parts)
        if result.log.faults:
            bodies.append({"event": chained.MENDED, "faults": [fault.name for fault in result.log.faults]})
        if bodies:
            lake.manifests.note(path, bodies)
    parts.insert(
        0,
        f"manifest of {line}/{asset}: {len(again)} records noted again, {len(result.log.faults)} breaks "
        "acknowledged",
    )
    return "; ".join(parts) if bodies or len(parts) > 1 else "was repaired already"


def _lacking(lake: Lake, partition: Partition, known: Any, summary: list[str]) -> ManifestEntry | None:
    """Return the entry to note again for a part that is there; None where the manifest has it. A part that
    nothing speaks for is put aside."""
    sha = disk.file_sha(partition.part)
    log = known.get(partition.cycle)
    if log and (
        (log.committed and log.committed.record.file_sha == sha)
        or any(entry.record.file_sha == sha for entry in log.pending)
    ):
        return None
    record = read_record(partition)
    if record is not None and record.record.file_sha == sha:
        return record
    if log and log.commits:
        return None  # the part is damaged, or the record is: what the manifest says of the partition is looked at once it is whole  # noqa: E501
    summary.append(
        f"no record speaks for {partition}: moved to "
        f"{put_aside(lake, partition, partition.part, sha).relative_to(lake.root)}"
    )
    return None


def _of_many(lake: Lake, manifest: Path, known: Any, summary: list[str]) -> list[dict[str, Any]]:
    """Return what files of many cycles say in their metadata and the manifest does not: their parts' commits,
    and that these are there."""
    bodies: list[dict[str, Any]] = []
    named = {lake.root / pack["path"] for pack in known.packs}
    for path in packs.files(manifest.parent):
        entries = packs.entries_in(path, lake.root)
        sha = disk.file_sha(path)
        if not entries or not sha.startswith(path.stem):
            continue
        lost = [
            entry
            for entry in entries
            if not any(
                commit.token == entry.token for commit in known.get(entry.record.cycle, EMPTY_LOG).commits
            )
        ]
        unknown = path not in named
        if lost or (unknown and not known):
            bodies += [body_of(entry, lake.root) for entry in lost]
            if unknown:
                bodies.append(
                    packs.event(
                        [(entry, entry.record.rows) for entry in entries],
                        path,
                        sha,
                        path.stat().st_size,
                        lake.root,
                    )
                )
            summary.append(f"{len(lost)} records noted again from {path.relative_to(lake.root)}")
    return bodies


def put_aside(lake: Lake, partition: Partition, path: Path, sha: str, wanted: str | None = None) -> Path:
    """Move a file of a table to quarantine with a note; the caller holds the partition's lock."""
    folder = partition.quarantine
    disk.make_folder(folder)
    name = f"{'history-' if path != partition.part else ''}{partition.cycle or 'whole'}-{sha[:16]}"
    note = {"partition": str(partition), "got": f"sha256 {sha}", "wanted": wanted, "run_id": None}
    disk.write_atomic(folder / f"{name}.json", json.dumps(note, indent=1).encode(), tag="verify")
    if path.exists():
        disk.replace(path, folder / f"{name}.parquet")
        disk.sync_folder(path.parent)
        disk.sync_folder(folder)
    return folder / f"{name}.parquet"


@contextmanager
def _held(lake: Lake, partition: Partition) -> Iterator[Lake]:
    """Yield the lake afresh, while no writer can be running in the partition. Raises PartitionBusy where one
    is."""
    with (
        disk.as_lake_error(f"{partition} cannot be repaired", f"to write below {partition.asset_folder}"),
        hold(partition.lock, what=str(partition), run_id="verify", timeout_s=0),
    ):
        yield Lake(lake.root)


def finish(lake: Lake, partition: Partition) -> str:
    """Commit an intent whose bytes are in place; give up those whose bytes never came."""
    with _held(lake, partition) as now:
        log = now.verifier.log(partition)
        if not log.pending:
            return "was repaired already"
        sha = disk.file_sha(partition.part) if partition.part.exists() else None
        put_in_place = next((entry for entry in log.pending if entry.record.file_sha == sha), None)
        if put_in_place is not None and not (log.committed and log.committed.record.file_sha == sha):
            disk.write_atomic(partition.record, as_record(put_in_place, lake.root), tag="verify")
            disk.sync_folder(partition.folder)
            now.manifests.append(partition.manifest, as_commit(put_in_place))
            return f"{partition}: finished the publication of run {put_in_place.record.run_id}"
        now.manifests.note(
            partition.manifest,
            [{"event": ABANDONED, "cycle": partition.cycle, "token": entry.token} for entry in log.pending],
        )
        return f"{partition}: gave up {len(log.pending)} unfinished publications; the earlier content stays"


def copy_of(lake: Lake, partition: Partition, sha: str) -> Path | None:
    """Return a file in quarantine that has these bytes: a damaged log, not a damaged part, may have sent it
    there."""
    result = (
        partition.quarantine / name for name in disk.names(partition.quarantine) if name.endswith(".parquet")
    )
    return next((path for path in result if disk.file_sha(path) == sha), None)


def put_right(lake: Lake, partition: Partition) -> str:
    """Put the part back from a file that has its bytes; if there is none, put the damaged one aside."""
    with _held(lake, partition) as now:
        try:
            if now.verifier.resolve_locked(partition):
                return "was repaired already"
        except CorruptPart:
            pass  # it is in quarantine now, if it was there
        log = now.verifier.log(partition)
        source = copy_of(now, partition, log.committed.record.file_sha) if log.committed else None
        if source is None:
            return f"{partition}: the damaged part is in quarantine; materialize it again"
        disk.write_atomic(partition.part, disk.read(source), tag="verify")
    return f"{partition}: part put back from {source.relative_to(lake.root)}"


def write_record(lake: Lake, partition: Partition) -> str:
    """Write the record of what the part holds, by the manifest."""
    with _held(lake, partition) as now:
        verified = now.verifier.resolve_locked(partition)
        if verified is None:
            return "was repaired already"
        disk.write_atomic(partition.record, as_record(verified.entry, lake.root), tag="verify")
    return f"{partition}: record written again"


def write_token(lake: Lake, partition: Partition) -> str:
    """Set the writers' counter to the last token that the manifest knows."""
    with _held(lake, partition) as now:
        disk.write_atomic(partition.token, str(now.verifier.log(partition).last_token).encode(), tag="token")
    return f"{partition}: counter of writers set to the manifest's last token"


def known_lost(partition: Partition, sha: str) -> bool:
    """Return whether a note in quarantine says that these bytes were found damaged or gone."""
    for name in disk.names(partition.quarantine):
        if name.endswith(".json"):
            try:
                if json.loads(disk.read(partition.quarantine / name)).get("wanted") == sha:
                    return True
            except (ValueError, AttributeError):
                continue
    return False


def repair_superseded(lake: Lake, partition: Partition, entry: ManifestEntry) -> str:
    """Put a superseded part back where its bytes are elsewhere; else put what is there aside and note that it
    is lost."""
    path, wanted = partition.history(entry.token, entry.record.file_sha), entry.record.file_sha
    with _held(lake, partition) as now:
        got = disk.file_sha(path) if path.exists() else "nothing"
        if got == wanted:
            return "was repaired already"
        if source := _elsewhere(now, partition, wanted):
            disk.write_atomic(path, disk.read(source), tag="verify")
            return f"{partition}: superseded part put back from {source.relative_to(lake.root)}"
        put_aside(now, partition, path, f"{wanted[:8]}{got[:8]}" if got == "nothing" else got, wanted=wanted)
    return f"{partition}: superseded rows of run {entry.record.run_id} are lost; noted in quarantine"


def _elsewhere(lake: Lake, partition: Partition, sha: str) -> Path | None:
    if partition.part.exists() and disk.file_sha(partition.part) == sha:
        return partition.part
    return copy_of(lake, partition, sha)


def put_stray_aside(lake: Lake, partition: Partition, path: Path) -> str:
    """Move a superseded part that no manifest knows to quarantine."""
    with _held(lake, partition) as now:
        if not path.exists():
            return "was repaired already"
        aside = put_aside(now, partition, path, disk.file_sha(path))
    return f"{partition}: superseded part without a record moved to {aside.relative_to(lake.root)}"
