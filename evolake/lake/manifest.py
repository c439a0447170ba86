"""The manifest of a table: one JSON line per event, appended only, and the one thing that readers trust.

A publisher appends an *intent* before it puts new bytes in place and a *commit* after; a repair ends an
intent whose bytes never came with *abandoned*. The lines are chained (`chained`): one that a dying writer
left unfinished was never begun; one that was lost, changed, repeated or moved makes the manifest damaged: an
error for every reader and publisher, never a table without that line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from evolake.errors import LakeError
from evolake.lake import chained, checkpoint, disk, layout, packs
from evolake.lake.chained import VERIFY
from evolake.lake.manifest_lines import ABANDONED, COMMIT, INTENT, ManifestEntry, body_of, entry_of
from evolake.lake.packs import PACKED, Packed


@dataclass(frozen=True)
class PartitionLog:
    """What a manifest says of one partition, in the order of tokens.

    Attributes:
        commits: one entry a token. The last is what the part should hold.
        pending: intents newer than the last commit, newest first: their writers died, or are running now.
        packed: token -> where the part that it wrote is, if it has been put into one file with others.
    """

    commits: tuple[ManifestEntry, ...]
    pending: tuple[ManifestEntry, ...]
    packed: Mapping[int, Packed] = field(default_factory=dict)

    @property
    def committed(self) -> ManifestEntry | None:
        """Return the newest committed entry, or None."""
        return self.commits[-1] if self.commits else None

    @property
    def last_token(self) -> int:
        """Return the largest token; 0 if there is none."""
        return max((entry.token for entry in (*self.commits, *self.pending)), default=0)

    def apply(self, body: Mapping[str, Any], root: Path) -> PartitionLog:
        """Return the log after one more event: an intent that waits, its commit, or its end without one.
        Raises as `entry_of`."""
        commits, pending = (
            {entry.token: entry for entry in self.commits},
            {entry.token: entry for entry in self.pending},
        )
        if body["event"] == ABANDONED:
            pending.pop(body["token"], None)
        else:
            (commits if body["event"] == COMMIT else pending)[body["token"]] = entry_of(body, root)
        last = max(commits, default=0)
        waiting = sorted((token for token in pending if token > last), reverse=True)
        return replace(
            self,
            commits=tuple(commits[token] for token in sorted(commits)),
            pending=tuple(pending[token] for token in waiting),
        )

    def place_of(self, entry: ManifestEntry) -> Packed | None:
        """Return where an entry's rows are, if in a file with others."""
        return self.packed.get(entry.token)


EMPTY_LOG = PartitionLog((), ())


class Partitions(Mapping[str | None, PartitionLog]):
    """cycle -> log, by cycle. Of what comes from a checkpoint a log is made when it is asked for.

    Args:
        logs: those that are made.
        spans: cycle -> the rows of `stored` that its log is made of, from and up to, if `logs` has none.
        stored: rows of `checkpoint.COLUMNS`.
        packed: bodies of the events of compaction, in order.
    """

    def __init__(
        self,
        table: Path,
        root: Path,
        logs: Mapping[str | None, PartitionLog] = MappingProxyType({}),
        spans: Mapping[str | None, tuple[int, int]] = MappingProxyType({}),
        stored: pl.DataFrame | None = None,
        packed: tuple[Mapping[str, Any], ...] = (),
    ):
        self._table, self._root, self._stored, self.packs = table, root, stored, packed
        self._logs, self._spans = dict(logs), spans
        self._cycles = dict.fromkeys(sorted({*logs, *spans}, key=lambda cycle: cycle or ""))

    def __getitem__(self, cycle: str | None) -> PartitionLog:
        if cycle not in self._logs:
            self._logs[cycle] = self._made(cycle, self._spans[cycle])
        return self._logs[cycle]

    def __iter__(self) -> Iterator[str | None]:
        return iter(self._cycles)

    def __contains__(self, cycle: object) -> bool:
        return cycle in self._cycles

    def __len__(self) -> int:
        return len(self._cycles)

    @cached_property
    def _places(self) -> dict[str | None, dict[int, Packed]]:
        return packs.places_of(self.packs, self._root)

    def packed_of(self, cycle: str | None) -> Mapping[int, Packed]:
        """Return token -> where, of one partition's parts that are in files with others."""
        return self._places.get(cycle, {}) if self.packs else {}

    def _made(self, cycle: str | None, span: tuple[int, int]) -> PartitionLog:
        assert self._stored is not None
        rows = self._stored[span[0] : span[1]].rows()
        entries = [
            checkpoint.entry_of(row, self._table.parent.name, self._table.name, self._root) for row in rows
        ]
        commits = tuple(entry for entry in entries if entry.event == COMMIT)
        return PartitionLog(
            commits, tuple(entry for entry in entries if entry.event != COMMIT), self.packed_of(cycle)
        )

    def plain(self) -> tuple[pl.DataFrame, list[str | None]]:
        """Return the stored rows of partitions with one commit and nothing else, less those whose log has
        been made; and the cycles of all others."""
        if self._stored is None:
            return checkpoint.no_rows(), list(self)
        single = [start for start, stop in self._unmade().values() if stop - start == 1]
        rows = self._stored[single].filter("committed")
        known = set(rows.get_column("cycle").to_list())
        return rows, [cycle for cycle in self if cycle not in known]

    def _unmade(self) -> dict[str | None, tuple[int, int]]:
        """Return the spans of partitions whose log has not been made."""
        return {cycle: span for cycle, span in self._spans.items() if cycle not in self._logs}

    def stored(self) -> pl.DataFrame:
        """Return all of it as rows of a checkpoint."""
        spans: list[pl.DataFrame] = []
        rows: list[tuple[Any, ...]] = []
        for cycle in self:
            if log := self._logs.get(cycle):
                rows += [checkpoint.row_of(entry, self._root) for entry in (*log.commits, *log.pending)]
                continue
            assert self._stored is not None
            start, stop = self._spans[cycle]
            spans += [checkpoint.frame(rows)] if rows else []
            rows = []
            spans.append(self._stored[start:stop])
        return pl.concat([*spans, checkpoint.frame(rows)]).rechunk()

    def grown(self, bodies: Sequence[Mapping[str, Any]]) -> Partitions:
        """Return it with what further lines say. Raises KeyError, TypeError or ValueError where one is no
        record."""
        changed = self._changed(bodies)
        packed = [body for body in bodies if body.get("event") == PACKED]
        logs = {cycle: log for cycle, log in (self._logs | changed).items() if log.commits or log.pending}
        spans = {cycle: span for cycle, span in self._unmade().items() if cycle not in changed}
        result = Partitions(self._table, self._root, logs, spans, self._stored, (*self.packs, *packed))
        result._place({*changed, *(member[0] for body in packed for member in body["members"])})
        return result

    def _changed(self, bodies: Sequence[Mapping[str, Any]]) -> dict[str | None, PartitionLog]:
        """Return the logs of the partitions that further lines name."""
        committed = {(body["cycle"], body["token"]) for body in bodies if body.get("event") == COMMIT}
        changed: dict[str | None, PartitionLog] = {}
        for body in bodies:
            event = body.get("event")
            # an intent that was committed further on says nothing more than its commit
            waits = event == INTENT and (body["cycle"], body["token"]) not in committed
            if waits or event in (COMMIT, ABANDONED):
                log = changed.get(body["cycle"]) or self.get(body["cycle"], EMPTY_LOG)
                changed[body["cycle"]] = log.apply(body, self._root)
        return changed

    def _place(self, cycles: Iterable[str | None]) -> None:
        """Note in the logs of these, if they are made, which of their parts are in files with others."""
        for cycle in cycles if self.packs else ():
            if log := self._logs.get(cycle):
                self._logs[cycle] = replace(log, packed=self.packed_of(cycle))


@dataclass(frozen=True)
class Manifest:
    """A manifest as it is there: its log, damaged or not, and what its whole lines say, by cycle."""

    log: chained.Log
    partitions: Partitions


@dataclass(frozen=True)
class _Parsed:
    """A manifest that has been read: inode and size then, how many lines its bytes have, and how many of them
    a checkpoint held or was made of."""

    inode: int
    size: int
    lines: int
    stored: int
    manifest: Manifest

    @property
    def may_grow(self) -> bool:
        """Whether what is appended can be read by itself: nothing is damaged so far, and the last line is
        whole."""
        return not self.manifest.log.faults and self.lines > 0

    def grown(self, data: bytes) -> _Parsed:
        """With further bytes of the file."""
        before = self.manifest.log
        log = chained.parse(data, before, self.lines)
        partitions = self.manifest.partitions.grown(log.bodies[len(before.bodies) :])
        lines = self.lines + data.count(b"\n") if data.endswith(b"\n") else 0
        return _Parsed(self.inode, self.size + len(data), lines, self.stored, Manifest(log, partitions))


def _none(path: Path, root: Path) -> Partitions:
    return Partitions(path.parent, root)


class Manifests:
    """Reads and appends manifests below one root; a manifest that has not grown is parsed once."""

    def __init__(self, root: Path):
        self._root = root
        self._parsed: dict[Path, _Parsed] = {}

    def look(self, path: Path) -> Manifest:
        """Return the manifest whether damaged or not; an empty one if there is none."""
        return self._look(path, checkpoints=True)

    def reread(self, path: Path) -> Manifest:
        """Do as `look`, from its lines alone, each held to its check sum: no checkpoint is believed."""
        self._parsed.pop(path, None)
        return self._look(path, checkpoints=False)

    def _look(self, path: Path, *, checkpoints: bool) -> Manifest:
        with disk.as_lake_error(f"the manifest {path} cannot be read", "the record of what was published"):
            try:
                status = path.stat()
            except FileNotFoundError:
                return Manifest(chained.Log(), _none(path, self._root))
            known = self._parsed.get(path)
            if known and known.inode == status.st_ino and known.size == status.st_size:
                return known.manifest
            grown = (
                known is not None
                and known.inode == status.st_ino
                and known.may_grow
                and known.size < status.st_size
            )
            data = disk.read(path, known.size if known and grown else 0)
        try:
            parsed = (
                known.grown(data) if known and grown else self._parse(path, status.st_ino, data, checkpoints)
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LakeError(
                f"the manifest {path} holds a line that is no record",
                got=repr(error),
                do="restore it from a backup",
            ) from None
        self._parsed[path] = parsed
        return parsed.manifest

    def _parse(self, path: Path, inode: int, data: bytes, checkpoints: bool) -> _Parsed:
        stored = checkpoint.load(path, data) if checkpoints else None
        if stored is None:
            parsed = _Parsed(inode, 0, 0, 0, Manifest(chained.Log(), _none(path, self._root))).grown(data)
        else:
            log = chained.Log(no=stored.no, chain=stored.chain)
            partitions = Partitions(path.parent, self._root, {}, stored.spans(), stored.rows, stored.packs)
            parsed = _Parsed(inode, stored.size, stored.lines, stored.lines, Manifest(log, partitions)).grown(
                data[stored.size :]
            )
        if checkpoints and parsed.may_grow and checkpoint.is_due(parsed.lines, parsed.stored):
            log, partitions = parsed.manifest.log, parsed.manifest.partitions
            made = checkpoint.Checkpoint(
                len(data),
                parsed.lines,
                log.no,
                log.chain,
                partitions.stored(),
                tuple(dict(body) for body in partitions.packs),
            )
            checkpoint.write(path, data, made)
        return parsed

    def same(self, path: Path, data: bytes, stored: checkpoint.Checkpoint) -> bool:
        """Return whether a checkpoint says what the lines that it was made of say. data: those lines."""
        parsed = _Parsed(0, 0, 0, 0, Manifest(chained.Log(), _none(path, self._root))).grown(data)
        log, partitions = parsed.manifest.log, parsed.manifest.partitions
        head = (parsed.size, parsed.lines, log.no, log.chain, tuple(dict(body) for body in partitions.packs))
        same = head == (stored.size, stored.lines, stored.no, stored.chain, stored.packs)
        return same and partitions.stored().equals(stored.rows)

    def load(self, path: Path) -> Partitions:
        """Return cycle -> log, for every partition that the manifest names; empty if there is no manifest.

        Raises:
            LakeError: the manifest is damaged, or is gone while parts are next to it.
        """
        result, part = self.look(path), None
        if not result.log.no and (part := layout.any_part(path.parent)):
            # the table's first writer may have begun in between: its intent is there before its part
            result = self.look(path)
        if result.log.faults:
            raise LakeError(
                f"the manifest {path} is damaged",
                wanted="every line that was written, once and in order",
                got="; ".join(str(fault) for fault in result.log.faults[:3]),
                do=VERIFY,
            )
        if not result.log.no and part:
            raise LakeError(
                f"the manifest {path} is gone or empty",
                wanted="the record of what was published",
                got=f"a part {part}",
                do=VERIFY,
            )
        return result.partitions

    def append(self, path: Path, *entries: ManifestEntry) -> None:
        """Add entries, durably."""
        self.note(path, [body_of(entry, self._root) for entry in entries])

    def note(self, path: Path, bodies: list[dict[str, Any]]) -> None:
        """Add lines, durably."""
        chained.append(path, layout.log_lock(path.parent), bodies, lambda: self.look(path).log)
