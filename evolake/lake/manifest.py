"""The manifest of a table: one JSON line an event, appended only, and the one thing that readers trust.

A publisher appends an *intent* before it puts new bytes in place and a *commit* after; a repair ends an intent whose bytes never came with
*abandoned*. The lines are chained (`chained`): one that a dying
writer left unfinished is as if it had never been begun, while one that was lost, changed, repeated or moved makes the manifest damaged, and a
damaged manifest is an error for whoever reads or publishes, never a table without that line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from evolake.errors import LakeError
from evolake.lake import chained, disk, layout
from evolake.lake.chained import VERIFY

INTENT, COMMIT, ABANDONED = "intent", "commit", "abandoned"


@dataclass(frozen=True)
class Record:
    """What was published: where it lies, what it holds, who wrote it.

    Attributes:
        path: the part, absolute. rows: its row count.
        content_sha: the DataVersion; equal content has an equal one however it is stored. file_sha: sha256 of the part's bytes.
        schema_name, schema_version: the TableSchema it was checked against, or None.
        created_at: when, in UTC.
    """

    line: str
    asset: str
    cycle: str | None
    path: Path
    rows: int
    content_sha: str
    file_sha: str
    schema_name: str | None
    schema_version: int | None
    run_id: str
    created_at: datetime


@dataclass(frozen=True)
class Entry:
    """One line of a manifest: a record, the writer's fencing token, the part's size in bytes and its columns (name -> type).

    provenance: the columns that `content_sha` leaves out; None where evolake 0.1.0 wrote the line, which did not say.
    """

    event: str
    token: int
    size: int
    columns: Mapping[str, str]
    record: Record
    provenance: tuple[str, ...] | None = None


def body(entry: Entry, root: Path) -> dict[str, Any]:
    """The manifest's line for one entry."""
    record = entry.record
    told = {
        "event": entry.event, "token": entry.token, "line": record.line, "asset": record.asset, "cycle": record.cycle,
        "path": record.path.relative_to(root).as_posix(), "rows": record.rows, "size": entry.size, "content_sha": record.content_sha,
        "file_sha": record.file_sha, "schema_name": record.schema_name, "schema_version": record.schema_version, "run_id": record.run_id,
        "created_at": record.created_at.isoformat(), "columns": dict(entry.columns),
    }
    return told if entry.provenance is None else told | {"provenance": list(entry.provenance)}


def entry_of(body: Mapping[str, Any], root: Path) -> Entry:
    """The entry on one line; see `body`. Raises KeyError, TypeError or ValueError where it is no entry's."""
    record = Record(
        line=body["line"], asset=body["asset"], cycle=body["cycle"], path=root / body["path"], rows=body["rows"],
        content_sha=body["content_sha"], file_sha=body["file_sha"], schema_name=body["schema_name"], schema_version=body["schema_version"],
        run_id=body["run_id"], created_at=datetime.fromisoformat(body["created_at"]),
    )
    provenance = body.get("provenance")
    return Entry(body["event"], body["token"], body["size"], body["columns"], record, None if provenance is None else tuple(provenance))


@dataclass(frozen=True)
class PartitionLog:
    """What a manifest says of one partition, in the order of tokens.

    Attributes:
        commits: one entry a token. The last is what the part should hold.
        pending: intents newer than the last commit, newest first: their writers died, or are at work now.
    """

    commits: tuple[Entry, ...]
    pending: tuple[Entry, ...]

    @property
    def committed(self) -> Entry | None:
        return self.commits[-1] if self.commits else None

    @property
    def last_token(self) -> int:
        return max((entry.token for entry in (*self.commits, *self.pending)), default=0)


@dataclass(frozen=True)
class Manifest:
    """A manifest as it lies there: its log, damaged or not, and what its whole lines say, by cycle."""

    log: chained.Log
    partitions: Mapping[str | None, PartitionLog]


@dataclass(frozen=True)
class _Parsed:
    """A manifest that has been read: inode and size then, its entries in order, and how many lines its bytes have."""

    inode: int
    size: int
    lines: int
    entries: tuple[Entry, ...]
    manifest: Manifest

    @property
    def may_grow(self) -> bool:
        """Whether what is appended can be read by itself: nothing is damaged so far, and the last line is whole."""
        return not self.manifest.log.faults and self.lines > 0


def _parse(inode: int, data: bytes, root: Path, before: _Parsed | None = None) -> _Parsed:
    """What a manifest says; of one that has grown only what is new is parsed."""
    start = before.size if before else 0
    log = chained.parse(data[start:], before.manifest.log if before else None, before.lines if before else 0)
    known = len(before.manifest.log.bodies) if before else 0
    done = {(body["cycle"], body["token"]) for body in log.bodies[known:] if body.get("event") == COMMIT}
    fresh = tuple(
        entry_of(body, root) for body in log.bodies[known:]
        if body.get("event") == COMMIT or (body.get("event") == INTENT and (body["cycle"], body["token"]) not in done)
    )
    entries = (*before.entries, *fresh) if before else fresh
    given_up = {(body["cycle"], body["token"]) for body in log.bodies if body.get("event") == ABANDONED}
    alive = entries if not given_up else [one for one in entries if one.event == COMMIT or (one.record.cycle, one.token) not in given_up]
    lines = data.count(b"\n") if data.endswith(b"\n") else 0
    return _Parsed(inode, len(data), lines, entries, Manifest(log, _by_partition(alive)))


class Manifests:
    """Reads and appends manifests below one root; a manifest that has not grown is parsed once."""

    def __init__(self, root: Path):
        self._root = root
        self._parsed: dict[Path, _Parsed] = {}

    def look(self, path: Path) -> Manifest:
        """The manifest whether damaged or not; an empty one where there is none."""
        with disk.told(f"the manifest {path} cannot be read", "the record of what was published"):
            try:
                status = path.stat()
            except FileNotFoundError:
                return Manifest(chained.Log(), {})
            known = self._parsed.get(path)
            if known and known.inode == status.st_ino and known.size == status.st_size:
                self._parsed[path] = known
                return known.manifest
            data = disk.read(path)
        grown = known is not None and known.inode == status.st_ino and known.may_grow and known.size < len(data)
        try:
            parsed = _parse(status.st_ino, data, self._root, known if grown else None)
        except (KeyError, TypeError, ValueError) as error:
            raise LakeError(f"the manifest {path} holds a line that is no record", got=repr(error), do="restore it from a backup") from None
        self._parsed[path] = parsed
        return parsed.manifest

    def load(self, path: Path) -> Mapping[str | None, PartitionLog]:
        """cycle -> log, for every partition that the manifest names; empty where there is no manifest.

        Raises:
            LakeError: the manifest is damaged, or is gone while parts lie beside it.
        """
        found = self.look(path)
        if not found.log.bodies and next(layout.parts(path.parent), None):
            found = self.look(path)  # the table's first writer may have begun in between: its intent is there before its part
        if found.log.faults:
            raise LakeError(
                f"the manifest {path} is damaged", wanted="every line that was written, once and in order",
                got="; ".join(str(fault) for fault in found.log.faults[:3]), do=VERIFY,
            )
        if not found.log.bodies and (part := next(layout.parts(path.parent), None)):
            raise LakeError(f"the manifest {path} is gone or empty", wanted="the record of what was published", got=f"a part {part}", do=VERIFY)
        return found.partitions

    def append(self, path: Path, *entries: Entry) -> None:
        """Adds entries, durably."""
        self.note(path, [body(entry, self._root) for entry in entries])

    def note(self, path: Path, bodies: list[dict[str, Any]]) -> None:
        """Adds lines, durably."""
        table = path.parent
        chained.append(path, self._root / "locks" / table.parent.name / table.name / "_manifest.lock", bodies, lambda: self.look(path).log)


def _by_partition(entries: Iterable[Entry]) -> dict[str | None, PartitionLog]:
    commits: dict[str | None, dict[int, Entry]] = {}
    intents: dict[str | None, dict[int, Entry]] = {}
    for entry in entries:
        chosen = commits if entry.event == COMMIT else intents
        chosen.setdefault(entry.record.cycle, {})[entry.token] = entry
    logs = {}
    for cycle in sorted({*commits, *intents}, key=lambda cycle: cycle or ""):
        done = commits.get(cycle, {})
        last = max(done, default=0)
        waiting = sorted((token for token in intents.get(cycle, {}) if token > last), reverse=True)
        logs[cycle] = PartitionLog(tuple(done[token] for token in sorted(done)), tuple(intents[cycle][token] for token in waiting))
    return logs
