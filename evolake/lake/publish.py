"""The publish protocol: after a crash at any point, readers see the old content whole or the new content
whole.

Under the partition's lock: write a temporary file next to the target, sync it, open it again and check it;
append the intent; give the old part a second name in the history; replace the record next to the part, then
the part; sync the folder; append the commit. The fencing token is asked for again before the replace and
before the commit. Parquet bytes hold no time and no name of a run, so the same frame gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import polars as pl

from evolake.errors import CorruptPart, InputError, LakeError
from evolake.file_names import file_name
from evolake.lake import chained, disk, lake_format, manifest_lines, packs, parquet
from evolake.lake.layout import Partition, line_lock
from evolake.lake.locks import Fence, check_lease, hold
from evolake.lake.manifest import Manifests
from evolake.lake.manifest_lines import COMMIT, INTENT, ManifestEntry, Record
from evolake.lake.schemas import TableSchema
from evolake.lake.verify import Verifier


class Publisher:
    """Writes parts of one lake."""

    def __init__(
        self, manifests: Manifests, verifier: Verifier, lock_timeout_s: float, clock: Callable[[], datetime]
    ):
        self._manifests, self._verifier, self._lock_timeout_s, self._clock = (
            manifests,
            verifier,
            lock_timeout_s,
            clock,
        )

    def publish(
        self, partition: Partition, frame: pl.DataFrame, run_id: str, schema: TableSchema | None
    ) -> Record:
        """Publish `frame` as the partition's content. Content that is there already is left as it is; see
        `Lake.publish`."""
        from evolake.lake.hashing import content_hash

        content_sha = content_hash(frame, schema.provenance if schema else ())
        with (
            disk.as_lake_error(
                f"{partition} could not be published by run {run_id}",
                f"to write below {partition.asset_folder}",
            ),
            hold(
                partition.lock,
                what=str(partition),
                run_id=run_id,
                timeout_s=self._lock_timeout_s,
                remove=True,
            ),
        ):
            lake_format.mark(partition.root)
            check_lease(line_lock(partition.root, partition.line))
            self._refuse_mixture(partition)
            current = self._finish_what_was_begun(partition)
            if current and _is_same(current.record, content_sha, schema):
                return current.record
            return self._replace(partition, frame, content_sha, run_id, schema, current)

    def _refuse_mixture(self, partition: Partition) -> None:
        known = self._manifests.load(partition.manifest)
        if known and (None in known) != (partition.cycle is None):
            raise InputError(
                f"{partition.line}/{partition.asset} is {'un' if None in known else ''}partitioned",
                wanted="a part of the same sort",
                got=f"cycle {partition.cycle}",
                do="publish it under another asset name",
            )

    def _finish_what_was_begun(self, partition: Partition) -> ManifestEntry | None:
        """Return the entry whose content the partition holds. Sweeps dead writers' files; commits what a dead
        writer had put in place."""
        for leftover in partition.folder.glob(".tmp-*"):
            disk.remove(leftover)
        try:
            verified = self._verifier.resolve_locked(partition)
        except CorruptPart:
            return None  # it is in quarantine now, and the new content mends the partition
        if verified is None:
            return None
        if not verified.committed:
            disk.write_atomic(partition.record, as_record(verified.entry, partition.root), tag="record")
            self._manifests.append(partition.manifest, as_commit(verified.entry))
        return verified.entry

    def _replace(
        self,
        partition: Partition,
        frame: pl.DataFrame,
        content_sha: str,
        run_id: str,
        schema: TableSchema | None,
        current: ManifestEntry | None,
    ) -> Record:
        fence = Fence.take(
            partition.token,
            at_least=self._verifier.log(partition).last_token,
            what=str(partition),
            run_id=run_id,
        )
        data = parquet.encode(frame)
        record = Record(
            line=partition.line,
            asset=partition.asset,
            cycle=partition.cycle,
            path=partition.part,
            rows=frame.height,
            content_sha=content_sha,
            file_sha=hashlib.sha256(data).hexdigest(),
            schema_name=schema.name if schema else None,
            schema_version=schema.version if schema else None,
            run_id=run_id,
            created_at=self._clock(),
        )
        columns = {name: str(kind) for name, kind in frame.schema.items()}
        intent = ManifestEntry(
            INTENT, fence.token, len(data), columns, record, schema.provenance if schema else ()
        )
        temporary = partition.folder / f".tmp-{file_name(run_id)}-{fence.token}"
        beside = temporary.with_name(f"{temporary.name}-record")
        disk.make_folder(partition.folder)
        try:
            disk.write_new(temporary, data)
            self._check_written(partition, temporary, frame, record)
            disk.write_new(beside, as_record(intent, partition.root))
            self._manifests.append(partition.manifest, intent)
            if current:
                self._keep(partition, current)
            _check(fence, partition)
            disk.replace(beside, partition.record)
            disk.replace(temporary, partition.part)
        except BaseException:
            disk.discard(temporary)
            disk.discard(beside)
            raise
        disk.sync_folder(partition.folder)
        _check(fence, partition)
        self._manifests.append(partition.manifest, as_commit(intent))
        return record

    def _keep(self, partition: Partition, current: ManifestEntry) -> None:
        """Give what is superseded its place in the history: a second name, or its own file where it is
        in one with others."""
        kept = partition.history(current.token, current.record.file_sha)
        disk.make_folder(kept.parent)
        place = self._verifier.log(partition).place_of(current)
        if place is None or partition.part.exists():
            disk.link(partition.part, kept)
            disk.sync_folder(kept.parent)
        elif place.path != kept:
            self._manifests.note(
                partition.manifest, [packs.write_apart(current, place, kept, partition.root)]
            )

    def _check_written(
        self, partition: Partition, temporary: Path, frame: pl.DataFrame, record: Record
    ) -> None:
        """Open what was written as a reader would: bytes, columns and rows must be those that were meant."""
        on_disk = disk.read(temporary)
        sha = hashlib.sha256(on_disk).hexdigest()
        scan = pl.scan_parquet(io.BytesIO(on_disk))
        result = (sha, dict(scan.collect_schema()), scan.select(pl.len()).collect().item())
        wanted = (record.file_sha, dict(frame.schema), frame.height)
        if result != wanted:
            what = f"{partition}: what was written is not what was meant"
            raise LakeError(what, wanted=str(wanted), got=str(result), do="check the disk, and run again")


def _check(fence: Fence, partition: Partition) -> None:
    """Raise PartitionBusy where another has taken the partition, or the line that this process holds."""
    fence.check()
    check_lease(line_lock(partition.root, partition.line))


def as_commit(entry: ManifestEntry) -> ManifestEntry:
    """Return the commit that ends what an intent began."""
    return replace(entry, event=COMMIT)


def as_record(entry: ManifestEntry, root: Path) -> bytes:
    """Return the bytes of the record next to a part: the line of its commit, outside of the chain."""
    return chained.signed(manifest_lines.body_of(as_commit(entry), root)) + b"\n"


def _is_same(record: Record, content_sha: str, schema: TableSchema | None) -> bool:
    described = (schema.name, schema.version) if schema else (None, None)
    return record.content_sha == content_sha and (record.schema_name, record.schema_version) == described
