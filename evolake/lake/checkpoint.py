"""A manifest's checkpoint: what its first lines say, in columns, so that a table of many cycles is opened
without reading each line of its log.

    cache/manifests/<line>/<asset>.checkpoint      one signed line of JSON, then an Arrow table with a row per
                                                   commit and per intent that waits

The lines stay the record. A checkpoint is derived from them, can go at any time, and is believed only where
its own check sums hold and the manifest still begins with the very bytes that it was made of (their sha256).
Any other, also one of a newer evolake, is as if it were not there, and is made again. It is written next to
its name and renamed: who is killed meanwhile leaves the one before.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import chained, disk, layout
from evolake.lake.manifest_lines import ManifestEntry, Record

FORMAT = 1
"""What this evolake writes and believes. Raise it where the columns or their meaning change."""
FEWEST_LINES = 64
SHARE = 16
"""A checkpoint is made again once the lines after it are FEWEST_LINES, and a SHARE-th of those in it: what
that costs grows with what is added."""
COLUMNS = {
    "committed": pl.Boolean,
    "cycle": pl.String,
    "token": pl.Int64,
    "size": pl.Int64,
    "columns": pl.String,
    "path": pl.String,
    "rows": pl.Int64,
    "content_sha": pl.String,
    "file_sha": pl.String,
    "schema_name": pl.String,
    "schema_version": pl.Int64,
    "run_id": pl.String,
    "created_at": pl.String,
    "provenance": pl.String,
}


@dataclass(frozen=True)
class Checkpoint:
    """What the first `size` bytes of a manifest say, which are `lines` lines whose chain comes to `chain`
    after number `no`.

    rows: COLUMNS; partition after partition, of each first its commits by token, then its waiting intents,
    newest first. `columns` and `provenance` are JSON, `path` is below the lake's root. packs: the bodies of
    the manifest's events of compaction, in order.
    """

    size: int
    lines: int
    no: int
    chain: str
    rows: pl.DataFrame
    packs: tuple[dict[str, Any], ...] = ()

    def spans(self) -> dict[str | None, tuple[int, int]]:
        """Return cycle -> its rows, from and up to."""
        cycles = self.rows.get_column("cycle").to_list()
        starts = [at for at, cycle in enumerate(cycles) if at == 0 or cycle != cycles[at - 1]]
        return {
            cycles[start]: (start, stop)
            for start, stop in zip(starts, [*starts[1:], len(cycles)], strict=bool(starts))
        }


def path_of(manifest: Path) -> Path:
    """Return where the checkpoint of a manifest is."""
    table = manifest.parent
    return (
        table.parent.parent.parent
        / layout.CACHE
        / "manifests"
        / table.parent.name
        / f"{table.name}.checkpoint"
    )


def load(manifest: Path, data: bytes) -> Checkpoint | None:
    """Return the checkpoint of a manifest whose bytes are `data`; None if there is none that can be believed.
    Never raises."""
    result = read(manifest)
    if result is None or isinstance(result, str):
        return None
    summary, checkpoint = result
    return checkpoint if fits(summary, data) else None


def fits(summary: Mapping[str, Any], data: bytes) -> bool:
    """Return whether a manifest's bytes begin with those that a checkpoint was made of."""
    return (
        len(data) >= summary["size"]
        and hashlib.sha256(memoryview(data)[: summary["size"]]).hexdigest() == summary["of"]
    )


def read(manifest: Path) -> tuple[dict[str, Any], Checkpoint] | str | None:
    """Return (its head, itself), whole by its own check sums; None if there is none; or why it cannot be
    used."""
    path = path_of(manifest)
    if not path.exists():
        return None
    try:
        head, _, rows = disk.read(path).partition(b"\n")
    except OSError as error:
        return str(error)
    summary = chained.unsigned(head)
    if summary is None:
        return "its head is damaged"
    if summary.get("format") != FORMAT:
        return f"format {summary.get('format')!r}: this evolake reads format {FORMAT}"
    if hashlib.sha256(rows).hexdigest() != summary.get("rows"):
        return "its rows are damaged"
    try:
        frame = pl.read_ipc(io.BytesIO(rows))
        made = Checkpoint(
            summary["size"], summary["lines"], summary["no"], summary["chain"], frame, tuple(summary["packs"])
        )
    except (KeyError, TypeError, pl.exceptions.PolarsError) as error:
        return f"{type(error).__name__}: {error}"
    return (summary, made) if dict(frame.schema) == COLUMNS else "its columns are others"


def write(manifest: Path, data: bytes, checkpoint: Checkpoint) -> None:
    """Put a checkpoint in place; data: the bytes of the manifest. If that fails nothing is lost: the lines
    are read instead."""
    path = path_of(manifest)
    buffer = io.BytesIO()
    checkpoint.rows.write_ipc(buffer, compression="zstd")
    head = {
        "format": FORMAT,
        "size": checkpoint.size,
        "lines": checkpoint.lines,
        "no": checkpoint.no,
        "chain": checkpoint.chain,
        "of": hashlib.sha256(memoryview(data)[: checkpoint.size]).hexdigest(),
        "rows": hashlib.sha256(buffer.getvalue()).hexdigest(),
        "packs": list(checkpoint.packs),
    }
    with suppress(OSError):
        disk.make_folder(path.parent)
        disk.write_unsynced(
            path,
            chained.signed(head) + b"\n" + buffer.getvalue(),
            tag=f"{os.getpid()}-{threading.get_ident()}",
        )


def is_due(lines: int, before: int) -> bool:
    """Return whether a checkpoint of `lines` lines is worth writing where the last was of `before`."""
    return lines - before >= max(FEWEST_LINES, before // SHARE)


def frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Return rows as a frame of COLUMNS."""
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


@cache
def no_rows() -> pl.DataFrame:
    """Return `frame` of nothing."""
    return frame([])


def row_of(entry: ManifestEntry, root: Path) -> tuple[Any, ...]:
    """Return an entry as a row of COLUMNS."""
    record, provenance = entry.record, entry.provenance
    return (
        entry.event == "commit",
        record.cycle,
        entry.token,
        entry.size,
        json.dumps(dict(entry.columns)),
        record.path.relative_to(root).as_posix(),
        record.rows,
        record.content_sha,
        record.file_sha,
        record.schema_name,
        record.schema_version,
        record.run_id,
        record.created_at.isoformat(),
        json.dumps(list(provenance)),
    )


def entry_of(row: tuple[Any, ...], line: str, asset: str, root: Path) -> ManifestEntry:
    """Return the entry of a row of COLUMNS."""
    (
        committed,
        cycle,
        token,
        size,
        columns,
        path,
        rows,
        content_sha,
        file_sha,
        schema_name,
        schema_version,
        run_id,
        created_at,
        provenance,
    ) = row
    record = Record(
        line,
        asset,
        cycle,
        root / path,
        rows,
        content_sha,
        file_sha,
        schema_name,
        schema_version,
        run_id,
        datetime.fromisoformat(created_at),
    )
    return ManifestEntry(
        "commit" if committed else "intent",
        token,
        size,
        json.loads(columns),
        record,
        tuple(json.loads(provenance)),
    )
