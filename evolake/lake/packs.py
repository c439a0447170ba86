"""Files that hold the parts of many cycles: what one looks like, and how the rows of one cycle are taken out
of it.

    tables/<line>/<asset>/cycles=0001-0512/<sha256, 16 digits>.parquet

The rows of the cycles follow one another in their order, with every column that they had, and three more
where the table has not got them: `cycle`, `origin_cycle` (the partition) and `origin_run` (the run that
published it). The manifest says which cycle is where. The entries of those cycles are in the file's own
metadata once more, so that a damaged manifest can be repaired by it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import disk, layout, manifest_lines, parquet
from evolake.lake.manifest_lines import ManifestEntry

PACKED = "packed"
"""The event of a manifest that says what a file of many cycles holds."""
ORIGINS = ("origin_cycle", "origin_run")
ADDED = ("cycle", *ORIGINS)
"""Columns that a file has next to those of its parts, where they have not got them."""
ENTRIES = "evolake.entries"
"""The key of a file's metadata under which the entries of its parts stand, as JSON."""


@dataclass(frozen=True)
class Packed:
    """Where the rows of one part are in a file that holds those of several. path: absolute. size: the file's
    bytes. offset, rows: in it."""

    path: Path
    file_sha: str
    size: int
    offset: int
    rows: int


def places_of(bodies: Iterable[Mapping[str, Any]], root: Path) -> dict[str | None, dict[int, Packed]]:
    """Return cycle -> token -> where the part is, by the bodies of the events PACKED, in order."""
    places: dict[str | None, dict[int, Packed]] = {}
    for body in bodies:
        path, offset = root / body["path"], 0
        for cycle, token, rows in body["members"]:
            places.setdefault(cycle, {})[token] = Packed(path, body["file_sha"], body["size"], offset, rows)
            offset += rows
    return places


@dataclass(frozen=True)
class Member:
    """One part that goes into a file with others: its commit, and its rows as they were published."""

    entry: ManifestEntry
    frame: pl.DataFrame


def encode(members: Sequence[Member], root: Path) -> bytes:
    """Return the file's bytes, the same for the same members."""
    frames = []
    for member in members:
        record = member.entry.record
        details = {"cycle": record.cycle, "origin_cycle": record.cycle, "origin_run": record.run_id}
        frames.append(
            member.frame.with_columns(
                pl.lit(details[name], pl.String).alias(name)
                for name in ADDED
                if name not in member.frame.columns
            )
        )
    entries = json.dumps([manifest_lines.body_of(member.entry, root) for member in members])
    return parquet.encode(pl.concat(frames), {ENTRIES: entries})


def event(
    members: Sequence[tuple[ManifestEntry, int]], path: Path, file_sha: str, size: int, root: Path
) -> dict[str, Any]:
    """Return the manifest's line for a file. members: each part's entry, and how many rows it has."""
    return {
        "event": PACKED,
        "path": path.relative_to(root).as_posix(),
        "file_sha": file_sha,
        "size": size,
        "members": [[entry.record.cycle, entry.token, rows] for entry, rows in members],
    }


def rows_of(whole: pl.DataFrame, place: Packed, columns: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of one part as they were published. whole: all that is in the file."""
    return whole[place.offset : place.offset + place.rows].select(list(columns))


def write_apart(entry: ManifestEntry, place: Packed, path: Path, root: Path) -> dict[str, Any]:
    """Write one part of a file as its own file. Return the manifest's line for it."""
    whole = pl.read_parquet(io.BytesIO(disk.read(place.path)))
    member = Member(entry, rows_of(whole, place, entry.columns))
    data = encode([member], root)
    disk.write_atomic(path, data, tag=f"{os.getpid()}-kept")
    return event([(entry, member.frame.height)], path, hashlib.sha256(data).hexdigest(), len(data), root)


def files(table: Path) -> Iterator[Path]:
    """Yield the files of many cycles that are in a table's folder, by its listing."""
    with disk.as_lake_error(f"{table} cannot be listed", "the parts of a table"):
        for name in disk.names(table):
            if name.startswith(layout.MANY):
                yield from (
                    table / name / file
                    for file in disk.names(table / name)
                    if file.endswith(".parquet") and not file.startswith(".")
                )


def entries_in(path: Path, root: Path) -> list[ManifestEntry]:
    """Return the entries in a file's metadata; none where it cannot be read."""
    try:
        summary = json.loads(pl.read_parquet_metadata(path)[ENTRIES])
        return [manifest_lines.entry_of(body, root) for body in summary]
    except (OSError, KeyError, TypeError, ValueError, pl.exceptions.PolarsError):
        return []
