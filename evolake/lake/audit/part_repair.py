"""Repairing one partition, under its lock: finish what was begun, put back what is elsewhere to the byte, put
aside what is damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evolake.errors import CorruptPart
from evolake.lake import disk
from evolake.lake.audit.manifest_repair import put_aside
from evolake.lake.layout import Partition
from evolake.lake.locks import hold
from evolake.lake.manifest_lines import ABANDONED, ManifestEntry
from evolake.lake.publish import as_commit, as_record
from evolake.lake.store import Lake


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
