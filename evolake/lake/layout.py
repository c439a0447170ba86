"""Where things are below the lake's root, and which names may be used there.

    tables/<line>/<asset>/_manifest.jsonl                     what has been published, appended only
    tables/<line>/<asset>/cycle=0001/part.parquet             one part per partition (Hive keys)
    tables/<line>/<asset>/cycles=0001-0512/<sha>.parquet      the parts of many cycles; see `packs`
    tables/<line>/<asset>/cycle=0001/_record.json             the part's line of the manifest, once more
    tables/<study>/<asset>/cycle=<arm>-<seed>/part.parquet    a study has cells in the place of cycles
    tables/<line>/<asset>/part.parquet                        an unpartitioned table
    tables/<line>/<asset>/_history/...                        parts that were superseded
    cache/manifests/<line>/<asset>.checkpoint                 what a manifest says, in columns; derived, see
                                                              `checkpoint`
    cache/parts/<line>/<asset>-<sha>.parquet                  the parts of a table in one file for SQL;
                                                              derived, see `gathered`
    _format.json                                              which format this is; see `lake_format`
    blobs/ab/cdef...    seals/<line>/0001.json    seals/<line>/_journal.jsonl
    locks/...    quarantine/...    `tape/...`
    profile                                                   the profile that the newest population was
                                                              sealed under (evolake.settings)

The root is a folder of a POSIX file system, local or shared (docs/team-lake.md): the protocol needs an atomic
replace, appends and advisory locks. Paths are made in this file alone and touched through `disk` alone, so
that another store with an atomic put can take their place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import InputError
from evolake.lake import disk

_NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")
_CYCLE = re.compile(r"\d{4,9}")
_CELL = re.compile(r"[a-z][a-z0-9_]{0,59}(-[a-z0-9_]{1,19}){1,3}")
_RESERVED = {"main", "temp", "system", "information_schema", "pg_catalog", "memory"}

PART = "part.parquet"
MANIFEST = "_manifest.jsonl"
HISTORY = "_history"
RECORD = "_record.json"
MANY = "cycles="
"""What the folders of files with the parts of many cycles begin with; see `packs`."""
CACHE = "cache"
"""At the lake's root: what is derived and made again where it is missing."""
MIRRORED = "_mirror.json"
"""At the lake's root: what it was last mirrored as; see `mirror`."""
PULLING = "_pulling.json"
"""At the lake's root while a mirror is pulled into it: until then it is not whole."""


def check_name(kind: str, name: str) -> str:
    """Return `name`, if it may name a line or an asset; it becomes a folder and an SQL identifier."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError(
            f"{name!r} cannot name a {kind}",
            wanted="lower-case letters, digits and _, starting with a letter",
            do=f"rename the {kind}",
        )
    return name


def check_cycle(cycle: str) -> str:
    """Return `cycle`, if it is zero-padded to four digits: backfills submit keys in string order."""
    if not isinstance(cycle, str) or not _CYCLE.fullmatch(cycle):
        raise InputError(
            f"{cycle!r} is not a cycle",
            wanted="digits, zero-padded to four",
            got=repr(cycle),
            do="write for example 0001",
        )
    return cycle


def check_partition(key: str) -> str:
    """Return `key`, if it names a cycle of a line (`0001`) or a cell of a study (`one_shot-1`): a folder, and
    a value of the column `cycle`."""
    if isinstance(key, str) and _CELL.fullmatch(key):
        return key
    return check_cycle(key)


@dataclass(frozen=True)
class Partition:
    """One part of one table: the unit that is locked, published and verified. `cycle`: see `check_partition`;
    None for an unpartitioned table."""

    root: Path
    line: str
    asset: str
    cycle: str | None

    def __post_init__(self) -> None:
        check_name("line", self.line)
        check_name("asset", self.asset)
        if self.cycle is not None:
            check_partition(self.cycle)

    def __str__(self) -> str:
        return f"{self.line}/{self.asset}" + (f" cycle {self.cycle}" if self.cycle else "")

    @property
    def _key(self) -> str:
        return f"cycle={self.cycle}" if self.cycle else ""

    @property
    def asset_folder(self) -> Path:
        """Return the folder of the table."""
        return self.root / "tables" / self.line / self.asset

    @property
    def folder(self) -> Path:
        """Return the folder of the partition."""
        return self.asset_folder / self._key

    @property
    def part(self) -> Path:
        """Return the path of the current part."""
        return self.folder / PART

    @property
    def record(self) -> Path:
        """Return the path of the record."""
        return self.folder / RECORD

    @property
    def manifest(self) -> Path:
        """Return the path of the table's manifest."""
        return self.asset_folder / MANIFEST

    @property
    def lock(self) -> Path:
        """Return the path of the lock that writers hold."""
        return self.root / "locks" / self.line / f"{self.asset}@{self.cycle or 'whole'}.lock"

    @property
    def token(self) -> Path:
        """Return the path of the writers' counter."""
        return self.lock.with_suffix(".token")

    @property
    def quarantine(self) -> Path:
        """Return the folder for damaged files of the table."""
        return self.root / "quarantine" / self.line / self.asset

    def history(self, token: int, file_sha: str) -> Path:
        """Return the path of the part that `token` wrote, once it has been superseded."""
        return self.asset_folder / HISTORY / self._key / f"{token:06d}-{file_sha[:16]}.parquet"


def log_lock(table: Path) -> Path:
    """Return the lock of those who add to a table's manifest, by the table's folder: one for all tables of a
    line."""
    return table.parents[2] / "locks" / table.parent.name / "_manifests.lock"


def line_lock(root: Path, line: str) -> Path:
    """Return the lock of a whole line; its token next to it."""
    return root / "locks" / f"{check_name('line', line)}.lock"


def manifests(root: Path) -> list[tuple[str, str, Path]]:
    """Return (line, asset, manifest) of every table that has ever been published to, in order; the manifest
    of one that has lost it is missing."""
    result = []
    for line in _folders(root / "tables"):
        for asset in _folders(line):
            if (asset / MANIFEST).exists() or any_part(asset):
                result.append((line.name, asset.name, asset / MANIFEST))
    return result


def parts(table: Path) -> Iterator[Path]:
    """Return the current parts that are in a table's folder, by the folder's listing."""
    return (table / (f"cycle={cycle}" if cycle else "") / PART for cycle in part_sizes(table))


def any_part(table: Path) -> Path | None:
    """Return a current part that is in a table's folder, or a file with the parts of many cycles; None if
    there is none."""
    return next(parts(table), None) or next(
        (file for name in disk.names(table) if name.startswith(MANY) for file in (table / name).iterdir()),
        None,
    )


def part_sizes(table: Path) -> dict[str | None, int]:
    """Return cycle -> bytes of every current part that is in a table's folder, by the folder's listing: the
    one of no cycle first, then by cycle."""
    result = {}
    with disk.as_lake_error(f"{table} cannot be listed", "the parts of a table"):
        for name in ["", *(name for name in disk.names(table) if name.startswith("cycle="))]:
            with suppress(FileNotFoundError, NotADirectoryError):
                result[name.removeprefix("cycle=") or None] = os.stat(f"{table}/{name}/{PART}").st_size  # noqa: PTH116  a Path per part takes longer
    return result


def cycle_of(part: Path) -> str | None:
    """Return the cycle whose part this is, by its folder."""
    return part.parent.name.removeprefix("cycle=") if part.parent.name.startswith("cycle=") else None


def _folders(path: Path) -> list[Path]:
    with disk.as_lake_error(f"{path} cannot be listed", "the folders of the lake's tables"):
        return [path / name for name in disk.names(path) if (path / name).is_dir()]
