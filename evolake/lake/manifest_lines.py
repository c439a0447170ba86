"""The lines of a manifest: one JSON object per event, and what it says of a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

INTENT, COMMIT, ABANDONED = "intent", "commit", "abandoned"


@dataclass(frozen=True)
class Record:
    """What was published: where it is, what it holds, who wrote it.

    Attributes:
        path: the part, absolute. rows: its row count.
        content_sha: the DataVersion; equal content has an equal one however it is stored. file_sha: sha256 of
            the part's bytes.
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
class ManifestEntry:
    """One line of a manifest: a record, the writer's fencing token, the part's size in bytes and its columns
    (name -> type).

    provenance: the columns that `content_sha` leaves out.
    """

    event: str
    token: int
    size: int
    columns: Mapping[str, str]
    record: Record
    provenance: tuple[str, ...] = ()


def body_of(entry: ManifestEntry, root: Path) -> dict[str, Any]:
    """Return the manifest's line for one entry."""
    record = entry.record
    return {
        "event": entry.event,
        "token": entry.token,
        "line": record.line,
        "asset": record.asset,
        "cycle": record.cycle,
        "path": record.path.relative_to(root).as_posix(),
        "rows": record.rows,
        "size": entry.size,
        "content_sha": record.content_sha,
        "file_sha": record.file_sha,
        "schema_name": record.schema_name,
        "schema_version": record.schema_version,
        "run_id": record.run_id,
        "created_at": record.created_at.isoformat(),
        "columns": dict(entry.columns),
        "provenance": list(entry.provenance),
    }


def entry_of(body: Mapping[str, Any], root: Path) -> ManifestEntry:
    """Return the entry on one line; see `body_of`. Raises KeyError, TypeError or ValueError where it is no
    entry's."""
    record = Record(
        line=body["line"],
        asset=body["asset"],
        cycle=body["cycle"],
        path=root / body["path"],
        rows=body["rows"],
        content_sha=body["content_sha"],
        file_sha=body["file_sha"],
        schema_name=body["schema_name"],
        schema_version=body["schema_version"],
        run_id=body["run_id"],
        created_at=datetime.fromisoformat(body["created_at"]),
    )
    return ManifestEntry(
        body["event"], body["token"], body["size"], body["columns"], record, tuple(body["provenance"])
    )
