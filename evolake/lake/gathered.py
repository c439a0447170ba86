"""The parts of a table in one file for SQL: derived, so that a question over a thousand cycles opens one file
instead of a thousand.

    cache/parts/<line>/<asset>.json                  one signed line: the file's name, its sha256, and which
                                                     parts are in it
    cache/parts/<line>/<asset>-<sha256, 16>.parquet  their rows, part after part, as in a file of `packs`

The parts remain the record, and cycles read only them. A file is written from parts that have just been
verified. A catalogue takes a part's rows from it if its cycle and the sha256 of its file, as the manifest
names it, are those of the head, if the part's file is there with its size, and if the bytes here are those
that the head names. So what SQL reads was verified; a part whose bytes rot at the same size is found by
cycles and by `lake verify`. A file that cannot be trusted, for example one of a newer evolake, is ignored;
each can be removed at any time.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import chained, checkpoint, disk, layout, packs, parquet
from evolake.lake.inventory import Part
from evolake.lake.packs import Packed
from evolake.lake.schemas import is_population
from evolake.lake.store import Lake

FORMAT = 1
"""The format that this version writes and accepts. Raise it if the layout or its meaning changes."""
MOST_ROWS = 1 << 20
"""Rows of one file; the parts beyond them are read as they are. `evolake lake compact` gathers any number."""
Key = tuple[str, str]


@dataclass(frozen=True)
class _Gathered:
    """A verified file. places: (cycle, sha256 of the part's file) -> where its rows are."""

    places: Mapping[Key, Packed]


class GatheredParts:
    """The files of one lake. The head of each is read one time."""

    def __init__(self, lake: Lake):
        self._lake = lake
        self._known: dict[tuple[str, str], _Gathered] = {}

    def taken(self, parts: Iterable[Part]) -> list[Part]:
        """Return the parts, each with its place in a file of this module if it is in one."""
        return [self._placed(part) for part in parts]

    def files(self) -> set[Path]:
        """Return the files whose bytes were compared with their head."""
        return {place.path for known in self._known.values() for place in known.places.values()}

    def due(self, parts: Iterable[Part]) -> list[list[Part]]:
        """Return the parts of each table for which a file is worth writing: enough are new, or the file has
        superseded rows."""
        result: list[list[Part]] = []
        for (line, asset), own in _by_table(part for part in parts if _fits(part)).items():
            wanted, known = _up_to_most(own), self._of(line, asset).places
            here = sum(_key(part) in known for part in wanted)
            if checkpoint.is_due(len(wanted), here) or (
                len(wanted) >= checkpoint.FEWEST_LINES and here < len(known)
            ):
                result.append(wanted)
        return result

    def write(self, parts: Sequence[Part]) -> None:
        """Write the file of one table. parts: `due`, just verified. If it cannot be written, the parts are
        read instead."""
        line, asset = parts[0].line, parts[0].asset
        with suppress(
            OSError
        ):  # a folder that may not be written, or a part that another run replaces now: a later question writes the file  # noqa: E501
            frames = [_with_origin(part, list(parts[0].columns)) for part in parts]
            data = parquet.encode(pl.concat(frames))
            sha = hashlib.sha256(data).hexdigest()
            folder, tag = self._folder(line), f"{os.getpid()}-{threading.get_ident()}"
            disk.make_folder(folder)
            path = folder / f"{asset}-{sha[:16]}.parquet"
            disk.write_unsynced(path, data, tag=tag)
            members = [[part.partition.cycle, part.record.file_sha, part.record.rows] for part in parts]
            head = {"format": FORMAT, "file": path.name, "sha": sha, "size": len(data), "members": members}
            before = _head(folder / f"{asset}.json")
            disk.write_unsynced(folder / f"{asset}.json", chained.signed(head), tag=tag)
            self._known.pop((line, asset), None)
            for old in set(folder.glob(f"{asset}-{'?' * 16}.parquet")) - {
                path,
                folder / str((before or {}).get("file")),
            }:
                disk.remove(old)  # not the last one: a question that runs now reads it

    def _placed(self, part: Part) -> Part:
        if not _fits(part):
            return part
        place = self._of(part.line, part.asset).places.get(_key(part))
        return replace(part, path=place.path, place=place) if place else part

    def _of(self, line: str, asset: str) -> _Gathered:
        if (line, asset) not in self._known:
            self._known[line, asset] = self._read(line, asset)
        return self._known[line, asset]

    def _read(self, line: str, asset: str) -> _Gathered:
        folder = self._folder(line)
        head = _head(folder / f"{asset}.json")
        if head is None:
            return _Gathered({})
        path, places, offset = folder / head["file"], dict[Key, Packed](), 0
        try:
            if self._lake.verifier.shas.of(path) != head["sha"]:
                return _Gathered({})
        except OSError:
            return _Gathered({})
        for cycle, sha, rows in head["members"]:
            places[cycle, sha] = Packed(path, head["sha"], head["size"], offset, rows)
            offset += rows
        return _Gathered(places)

    def _folder(self, line: str) -> Path:
        return self._lake.root / layout.CACHE / "parts" / line


def _head(path: Path) -> dict[str, Any] | None:
    try:
        head = chained.unsigned(disk.read(path))
    except OSError:
        return None
    return head if head is not None and head.get("format") == FORMAT else None


def _fits(part: Part) -> bool:
    """Return whether a part's rows may be in a file of this module: the current part of a cycle, its file
    there with its size, with no others."""
    return (
        part.state == "current"
        and part.place is None
        and part.partition.cycle is not None
        and not is_population(part.asset)
    )


def _key(part: Part) -> Key:
    return part.partition.cycle or "", part.record.file_sha


def _by_table(parts: Iterable[Part]) -> dict[tuple[str, str], list[Part]]:
    result: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        result.setdefault((part.line, part.asset), []).append(part)
    return result


def _up_to_most(parts: Sequence[Part]) -> list[Part]:
    """Return those with the columns of the first, which have none of a file of many cycles, up to the most
    rows."""
    result: list[Part] = []
    columns, rows = dict(parts[0].columns), 0
    if set(packs.ORIGINS) & columns.keys():
        return []
    for part in parts:
        rows += part.record.rows
        if rows > MOST_ROWS:
            break
        if dict(part.columns) == columns:
            result.append(part)
    return result


def _with_origin(part: Part, columns: list[str]) -> pl.DataFrame:
    """Return a part's rows with where they came from. Raises OSError if its file is not the one that the
    manifest named when it was looked at."""
    data = disk.read(part.path)
    if hashlib.sha256(data).hexdigest() != part.record.file_sha:
        raise FileNotFoundError(part.path)
    frame = pl.read_parquet(io.BytesIO(data)).select(columns)
    details = {
        "cycle": part.partition.cycle,
        "origin_cycle": part.partition.cycle,
        "origin_run": part.record.run_id,
    }
    return frame.with_columns(
        pl.lit(details[name], pl.String).alias(name) for name in packs.ADDED if name not in frame.columns
    )
