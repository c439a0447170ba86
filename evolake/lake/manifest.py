"""The manifest of a table: one JSON line an event, appended only, and the one thing that readers trust.

A publisher appends an *intent* before it puts new bytes in place and a *commit* after. A writer that is killed may leave a torn line, so each
record starts on a line of its own (the newline comes before it as well as after) and ends in a check sum; a line that fails its check is as
if it had never been written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from evolake.lake import disk

INTENT, COMMIT = "intent", "commit"


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
    """One line of a manifest: a record, the writer's fencing token, the part's size in bytes and its columns (name -> type)."""

    event: str
    token: int
    size: int
    columns: Mapping[str, str]
    record: Record


def encode(entry: Entry, root: Path) -> bytes:
    """The bytes to append for one entry."""
    record = entry.record
    body = {
        "event": entry.event, "token": entry.token, "line": record.line, "asset": record.asset, "cycle": record.cycle,
        "path": record.path.relative_to(root).as_posix(), "rows": record.rows, "size": entry.size, "content_sha": record.content_sha,
        "file_sha": record.file_sha, "schema_name": record.schema_name, "schema_version": record.schema_version, "run_id": record.run_id,
        "created_at": record.created_at.isoformat(), "columns": dict(entry.columns),
    }
    return b"\n" + json.dumps(body | {"check": _check(body)}, ensure_ascii=False).encode() + b"\n"


def _check(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, ensure_ascii=False).encode()).hexdigest()[:16]


def decode(line: bytes, root: Path) -> Entry | None:
    """The entry on one line, or None where the line is torn or damaged."""
    try:
        body = json.loads(line)
    except ValueError:
        return None
    if not isinstance(body, dict) or body.pop("check", None) != _check(body):
        return None
    record = Record(
        line=body["line"], asset=body["asset"], cycle=body["cycle"], path=root / body["path"], rows=body["rows"],
        content_sha=body["content_sha"], file_sha=body["file_sha"], schema_name=body["schema_name"], schema_version=body["schema_version"],
        run_id=body["run_id"], created_at=datetime.fromisoformat(body["created_at"]),
    )
    return Entry(body["event"], body["token"], body["size"], body["columns"], record)


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


class Manifests:
    """Reads and appends manifests below one root; a manifest that has not grown is parsed once."""

    def __init__(self, root: Path):
        self._root = root
        self._parsed: dict[Path, tuple[tuple[int, int], dict[str | None, PartitionLog]]] = {}

    def load(self, path: Path) -> dict[str | None, PartitionLog]:
        """cycle -> log, for every partition that the manifest names; empty where there is no manifest."""
        try:
            status = path.stat()
        except FileNotFoundError:
            return {}
        known = self._parsed.get(path)
        if known and known[0] == (status.st_ino, status.st_size):
            return known[1]
        with disk.told(f"the manifest {path} cannot be read", "the record of what was published"):
            data = disk.read(path)
        logs = _by_partition(filter(None, (decode(line, self._root) for line in data.splitlines() if line)))
        self._parsed[path] = ((status.st_ino, len(data)), logs)
        return logs

    def append(self, path: Path, entry: Entry) -> None:
        """Adds one entry, durably."""
        disk.append(path, encode(entry, self._root))


def _by_partition(entries: Any) -> dict[str | None, PartitionLog]:
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
