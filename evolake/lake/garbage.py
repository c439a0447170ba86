"""Find and remove what a lake does not need: blobs that nothing names, and what dead writers left unfinished.

Superseded parts, quarantine and the call cache are no garbage: they are the record of what was. A writer
stores a blob before the row that names it, so a blob counts only when it has not been written, or asked for
by `put`, for `older_than_s`; and nothing is collected while a line is running.

Where a name may be is not asked: every 64 hexadecimal digits in a value of a table (nested ones and those of
superseded parts too), in a seal, on the call cache, in a record of what was fetched, in the key's folder or
inside a needed blob counts as a name. So a blob may be kept that is not needed; none is given up that is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from evolake.errors import LakeError
from evolake.lake import audit, disk
from evolake.lake.audit import files
from evolake.lake.chained import VERIFY
from evolake.lake.inventory import take_inventory
from evolake.lake.store import Lake
from evolake.lake.trees import MAX_BYTES
from evolake.project import IN_LAKE
from evolake.reading import Damaged, decompressed, kind_of

_HEX = re.compile(rb"[0-9a-f]{64,}")
_APART = frozenset({"blobs", "locks", "quarantine", "cache", "seeds", IN_LAKE})
"""Entries of a lake's root in which a name keeps no blob."""


def blobs_there(lake: Lake) -> dict[str, int]:
    """Return sha -> bytes of every blob."""
    result = {}
    for path in files(lake.root / "blobs"):
        if not path.name.startswith(".tmp-") and len(path.parent.name + path.name) == 64:
            result[path.parent.name + path.name] = path.stat().st_size
    return result


def needed_blobs(lake: Lake, there: Iterable[str]) -> set[str]:
    """Return those blobs of `there` that are needed.

    Raises:
        LakeError: something cannot be read, so that it is not known what is needed.
    """
    known = frozenset(there)
    result = set().union(*(_named(known, data) for data in _texts(lake)))
    fresh = set(result)
    while fresh:
        inside = set().union(
            *(_named(known, data) for sha in fresh for data in _unpacked(lake.blobs.get(sha)))
        )
        fresh = inside - result
        result |= fresh
    return result


def _named(known: frozenset[str], data: bytes) -> set[str]:
    """Return the names of known blobs in some bytes; in a longer run of digits a name may begin anywhere."""
    result = set()
    for run in _HEX.findall(data):
        text = run.decode()
        result |= {text[at : at + 64] for at in range(len(text) - 63)} & known
    return result


def _texts(lake: Lake) -> Iterator[bytes]:
    """Everything outside of the blobs that may name one."""
    for name in disk.names(lake.root):
        path = lake.root / name
        if name in _APART or not path.exists():
            continue
        for file in files(path) if path.is_dir() else [path]:
            with disk.as_lake_error(f"{file} cannot be read", "the names of blobs in it"):
                if file.suffix == ".parquet":
                    yield from _values(file.read_bytes())
                else:
                    yield disk.read(file)


def _values(parquet: bytes) -> Iterator[bytes]:
    """Yield the texts of a table, value by value; a part that cannot be read is damaged, and a run of its raw
    bytes is all that can be looked at."""
    try:
        frame = pl.read_parquet(parquet)
    except pl.exceptions.PolarsError:
        yield parquet
        return
    for column in frame.iter_columns():
        yield from _texts_of(column)


def _texts_of(column: pl.Series) -> Iterator[bytes]:
    kind = column.dtype
    if kind == pl.String:
        yield b"\n".join(value.encode() for value in column.drop_nulls().unique())
    elif kind == pl.Binary:
        yield b"\n".join(column.drop_nulls().unique())
    elif kind in (pl.Categorical, pl.Enum):
        yield from _texts_of(column.cast(pl.String))
    elif isinstance(kind, pl.Array):
        yield from _texts_of(column.cast(pl.List(kind.inner)))
    elif isinstance(kind, pl.List):
        yield from _texts_of(column.drop_nulls().explode())
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield from _texts_of(column.struct.field(field.name))


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield a blob's bytes, and what is in it where it is compressed as evolake compresses."""
    yield data
    if kind_of(data) == "zstd":
        before = b""
        try:
            for block in decompressed([data], 2 * MAX_BYTES, name="a blob", kind="zstd", ratio=MAX_BYTES):
                yield before + block
                before = (before + block)[-63:]
        except Damaged:
            return  # no archive of ours: its bytes have been looked at


DAY_S = 86400.0


@dataclass(frozen=True)
class Item:
    """One file that can go. where: below the lake's root. size: bytes. why: a few words."""

    kind: Literal["blob", "leftover"]
    where: str
    size: int
    why: str


@dataclass(frozen=True)
class Garbage:
    """What can go, and what stays among the blobs. needed: something names them. young: nothing does, but
    they are too new to decide."""

    items: tuple[Item, ...]
    needed: int
    young: int

    @property
    def size(self) -> int:
        """Bytes that removing all of it frees."""
        return sum(item.size for item in self.items)


def find(lake: Lake, *, older_than_s: float = DAY_S) -> Garbage:
    """Return what can go. Changes nothing.

    Raises:
        LakeError: a table or seal is damaged, so that it cannot be said what is needed.
    """
    _refuse_damage(lake)
    there = blobs_there(lake)
    needed = needed_blobs(lake, there)
    items, young = [], 0
    for sha in sorted(there.keys() - needed):
        path = lake.blobs.path(sha)
        if _age(path) >= older_than_s:
            items.append(
                Item(
                    "blob", path.relative_to(lake.root).as_posix(), there[sha], "nothing in the lake names it"
                )
            )
        else:
            young += 1
    for finding in audit.check_leftovers(lake, fast=True):
        path = lake.root / finding.where
        if path.exists():
            items.append(
                Item("leftover", finding.where, path.stat().st_size, "a dead writer left it unfinished")
            )
    return Garbage(tuple(items), len(needed), young)


def collect(lake: Lake, *, older_than_s: float = DAY_S) -> Garbage:
    """Remove what can go, and return what has gone. May be cut off anywhere.

    Raises:
        PartitionBusy: a line is running. LakeError: as `find`, or a file cannot be removed.
    """
    with lake.all_lines_lock(run_id="gc"):
        result, gone = find(lake, older_than_s=older_than_s), []
        for item in result.items:
            path = lake.root / item.where
            with disk.as_lake_error(f"{path} cannot be removed", "to free its space"):
                if path.exists() and (item.kind == "leftover" or _age(path) >= older_than_s):
                    disk.remove(path)
                    gone.append(item)
    return Garbage(tuple(gone), result.needed, result.young)


def _refuse_damage(lake: Lake) -> None:
    for error in take_inventory(lake).damaged.values():
        raise error
    for line in lake.seals.lines():
        log, _ = lake.seals.journal(line)
        if log and log.faults:
            what = f"the journal of the seals of {line} is damaged: it cannot be said what is needed"
            raise LakeError(what, got=str(log.faults[0]), do=VERIFY)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
