"""The lake: typed Parquet tables by line, asset and cycle, published whole and verified when read.

Readers trust the manifest, never a listing. The content hash of a part is its DataVersion; publishing the
same content twice changes nothing; content that is superseded is kept. See `publish` for the protocol,
`verify` for what a reader does after a crash, `catalogue` for SQL.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from evolake.errors import CorruptPart, InputError
from evolake.lake import disk, lake_format, layout, packs
from evolake.lake.blobs import BlobStore
from evolake.lake.chained import VERIFY
from evolake.lake.layout import Partition, manifests
from evolake.lake.locks import Holder, RunLocks, held_by, lease
from evolake.lake.manifest import Manifests, PartitionLog
from evolake.lake.manifest_lines import ManifestEntry, Record
from evolake.lake.packs import Packed
from evolake.lake.publish import Publisher
from evolake.lake.schemas import TableSchema
from evolake.lake.seals import Seals
from evolake.lake.verify import Shas, VerifiedPart, Verifier
from evolake.settings import PROFILE_FILE, profile_of


def _now() -> datetime:
    return datetime.now(UTC)


class Lake:
    """One lake, at a local folder. Folders are made when they are first needed.

    Args:
        root: the lake's folder.
        lock_timeout_s: how long a publisher waits for another writer of the same partition.
        clock: gives `Record.created_at`.
        checked: False for an audit, which looks at a lake whose format is damaged, too.

    Raises:
        InputError: the lake is of a format that this evolake does not read, or no folder. LakeError: its
            format cannot be read.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        lock_timeout_s: float = 2.0,
        clock: Callable[[], datetime] = _now,
        checked: bool = True,
    ):
        self.root = Path(root).absolute()
        if checked:
            lake_format.check(self.root)
        self.manifests = Manifests(self.root)
        self.verifier = Verifier(self.root, self.manifests, lock_timeout_s)
        self._publisher = Publisher(self.manifests, self.verifier, lock_timeout_s, clock)
        self._content_checked: set[tuple[Path, str | None, tuple[int, int, int, int]]] = set()
        self._whole: tuple[tuple[Path, tuple[int, int, int, int]], pl.DataFrame] | None = (
            None  # the file of many cycles that was read last
        )
        self.blobs = BlobStore(self.root)
        self.seals = Seals(self.root, clock)
        self.run_locks = RunLocks(self.root)

    @property
    def id(self) -> str:
        """Return what tells this lake from all others; a lake that has no id yet gets one.

        Raises:
            LakeError: it is damaged, or cannot be written.
        """
        with disk.as_lake_error(f"the lake {self.root} cannot be named", f"its id, in {lake_format.MARKER}"):
            return lake_format.mark(self.root)

    def publish(
        self,
        line: str,
        asset: str,
        frame: pl.DataFrame,
        *,
        cycle: str | None,
        run_id: str,
        schema: TableSchema | None = None,
    ) -> Record:
        """Make `frame` the content of one partition; `cycle=None` is the one part of an unpartitioned table.

        Returns:
            The record of what the partition now holds. Where it held the same content before, that is the
            earlier record.

        Raises:
            InputError: the frame does not fit `schema`, or a name cannot be used.
            PartitionBusy: another writer holds the partition, or has passed this one.
            LakeError: the disk failed; readers still see the old content or, whole, the new.
        """
        partition = Partition(self.root, line, asset, cycle)
        frame = schema.validate(frame) if schema else frame
        return self._publisher.publish(partition, frame, run_id, schema)

    def note_profile(self, profile: str) -> None:
        """Remember the profile that a population was sealed under: a user who opens the lake without naming
        one continues with it."""
        if profile_of(self.root) != profile:
            path = self.root / PROFILE_FILE
            with disk.as_lake_error(
                f"the profile of the lake cannot be noted in {path}", "to continue with it"
            ):
                disk.write_atomic(path, f"{profile}\n".encode(), tag=str(os.getpid()))

    def record(self, line: str, asset: str, cycle: str | None = None) -> Record | None:
        """Return what the partition holds by its manifest, None if nothing was published. Bytes are read only
        to resolve an unfinished publication."""
        partition = Partition(self.root, line, asset, cycle)
        log = self.verifier.log(partition)
        if log.pending:
            verified = self.verifier.resolve(partition)
            return verified.entry.record if verified else None
        if log.committed is None and partition.part.exists():
            self.verifier.resolve(partition)  # says that the manifest has lost it
        return log.committed.record if log.committed else None

    def cycles(self, line: str, asset: str) -> list[str]:
        """Return the cycles of a table that hold something, in order.

        Raises:
            LakeError: a part is there of which the manifest knows nothing: it has lost lines.
        """
        table = Partition(self.root, line, asset, None)
        known = self.manifests.load(table.manifest)
        for cycle in layout.part_sizes(table.asset_folder):
            if cycle not in known:
                self.verifier.resolve(Partition(self.root, line, asset, cycle))
        return [
            cycle
            for cycle in sorted(filter(None, known))
            if _is_committed(known[cycle]) or self.record(line, asset, cycle)
        ]

    def assets(self) -> Iterator[tuple[str, str]]:
        """Return (line, asset) of every table."""
        return ((line, asset) for line, asset, _ in manifests(self.root))

    def read(self, line: str, asset: str, cycle: str | None = None) -> pl.DataFrame:
        """Return the verified content of one partition; without `cycle`, of a whole table, cycle after cycle,
        with a `cycle` column.

        Raises:
            InputError: nothing was published there.
            CorruptPart: the bytes are not what the manifest says; they are in quarantine.
        """
        if cycle:
            return self._read(Partition(self.root, line, asset, cycle))
        frames = [
            _with_cycle(self._read(part).lazy(), part, cycle) for part in self._parts(line, asset, cycle)
        ]
        return pl.concat(frames, how="diagonal_relaxed").collect()

    def scan(self, line: str, asset: str, cycle: str | None = None) -> pl.LazyFrame:
        """Do as `read`, lazily: verified now, read at collect. A part that is replaced in between is read as
        its newer content, whole."""
        frames = []
        for part in self._parts(line, asset, cycle):
            verified = self._verified(part)
            frame = pl.scan_parquet(
                verified.place.path if verified.place else part.part, hive_partitioning=False, glob=False
            )
            if place := verified.place:
                frame = frame.slice(place.offset, place.rows).select(list(verified.entry.columns))
            frames.append(_with_cycle(frame, part, cycle))
        return pl.concat(frames, how="diagonal_relaxed")

    def _parts(self, line: str, asset: str, cycle: str | None) -> list[Partition]:
        cycles = [cycle] if cycle else (self.cycles(line, asset) or [None])
        return [Partition(self.root, line, asset, each) for each in cycles]

    def _verified(self, partition: Partition) -> VerifiedPart:
        verified = self.verifier.resolve(partition)
        if verified is None:
            known = self.cycles(partition.line, partition.asset)
            raise InputError(
                f"nothing has been published as {partition}",
                wanted=f"one of the cycles {', '.join(known)}" if known else "a published table",
                do=f"materialize {partition.line}/{partition.asset} first, or name another",
            )
        return verified

    def _read(self, partition: Partition) -> pl.DataFrame:
        while True:
            before = _identity(partition.part)
            verified = self._verified(partition)
            path = partition.part
            try:
                if verified.place:
                    frame, path, before = self._rows_in(verified.place, verified.entry)
                else:
                    frame = _opened(path)
            except FileNotFoundError:
                continue  # it was compacted in this moment, or replaced
            if before and (now := _identity(path)) and now[:3] == before[:3]:
                if (path, partition.cycle, before) not in self._content_checked:
                    _check_content(partition, verified.entry, frame)
                    self._content_checked.add((path, partition.cycle, before))
                return frame

    def _rows_in(
        self, place: Packed, entry: ManifestEntry
    ) -> tuple[pl.DataFrame, Path, tuple[int, int, int, int]]:
        """Return (the rows of a part that is in a file with others, that file, its identity). The file is
        read once for all that are in it."""
        identity = Shas.identity(place.path)
        if self._whole is None or self._whole[0] != (place.path, identity):
            self._whole = ((place.path, identity), _opened(place.path))
        return packs.rows_of(self._whole[1], place, entry.columns), place.path, identity

    def line_lock(self, line: str, *, run_id: str, timeout_s: float = 0) -> AbstractContextManager[None]:
        """Hold the line for one run: at most one cycle of a line runs at a time. A run that loses the line
        unnoticed publishes nothing any more.

        Raises:
            PartitionBusy: another run holds the line; names it.
        """
        return lease(
            layout.line_lock(self.root, line), what=f"line {line}", run_id=run_id, timeout_s=timeout_s
        )

    @contextmanager
    def all_lines_lock(self, *, run_id: str) -> Iterator[None]:
        """Hold every line that has a table or a seal: no cycle runs meanwhile.

        Raises:
            PartitionBusy: a run holds a line; names it.
        """
        with ExitStack() as stack:
            for line in sorted({*self.seals.lines(), *(line for line, _ in self.assets())}):
                stack.enter_context(self.line_lock(line, run_id=run_id))
            yield

    def line_holder(self, line: str) -> Holder | None:
        """Return the run that is running on a line, as its lock's note says; None if none is. Takes no lock
        and writes nothing."""
        return held_by(layout.line_lock(self.root, line))


def content_of(entry: ManifestEntry, frame: pl.DataFrame) -> str:
    """Return the content hash of what a part holds, as its entry counts it."""
    from evolake.lake.hashing import content_hash

    return content_hash(frame, entry.provenance)


def _identity(path: Path) -> tuple[int, int, int, int] | None:
    try:
        return Shas.identity(path)
    except FileNotFoundError:
        return None


def _opened(path: Path) -> pl.DataFrame:
    with path.open("rb") as opened:  # one file throughout: by its path, polars would open it more than once
        return pl.read_parquet(opened)


def _is_committed(log: PartitionLog) -> bool:
    """Return whether the manifest alone says that the partition holds something."""
    return log.committed is not None and not log.pending


def _check_content(partition: Partition, entry: ManifestEntry, frame: pl.DataFrame) -> None:
    """Check that the rows are those that the record's content hash, on which seals and Dagster's data
    versions rest, was made of."""
    got = content_of(entry, frame)
    if got != entry.record.content_sha:
        raise CorruptPart(
            f"the rows of {partition} are not those that its record names",
            wanted=f"content {entry.record.content_sha}",
            got=f"content {got}",
            do=VERIFY,
        )


def _with_cycle(frame: pl.LazyFrame, part: Partition, asked: str | None) -> pl.LazyFrame:
    if asked or part.cycle is None or "cycle" in frame.collect_schema():
        return frame
    return frame.with_columns(cycle=pl.lit(part.cycle))
