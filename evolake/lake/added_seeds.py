"""Seeds that come to a line that has begun: what is in its seeds' folder, and what of it has not entered yet.

A seed is known by its content. What has entered is in the state of the sealed population (`schemas.ENTERED`),
so it enters once, in the cycle that is opened next, and stays what it was however the folder changes. One
that a gate blocked may come again when its bytes or the rules are others.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.lake.schemas import ENTERED, INCOMING
from evolake.lake.store import Lake
from evolake.reading import DATA_BYTES, TEXT_BYTES, read_bytes


@dataclass(frozen=True)
class SeedItem:
    """One seed as it is there. sha: of its content. pack: its bytes, as they are kept; raises InputError.
    also: further bytes that those name. path: the file or folder that it is in.
    """

    name: str
    sha: str
    pack: Callable[[], bytes]
    also: Callable[[], bytes] | None = None
    path: Path | None = None


@dataclass(frozen=True)
class SeedSource:
    """The seeds of a line.

    Attributes:
        folder: where they are, below the seeds' folder.
        items: (the seeds' folder, settings) -> what is there, by name.
        accepts: whether a file or folder looks like a seed of this line. check: its name; raises InputError
            where it cannot be used.
    """

    folder: str
    items: Callable[[Path, Any], list[SeedItem]]
    accepts: Callable[[Path], bool]
    check: Callable[[Path], str]


def file_item(path: Path) -> SeedItem:
    """Return a seed that is a file."""
    return text_item(path.stem, read_bytes(path, TEXT_BYTES), path)


def text_item(name: str, data: bytes, path: Path | None = None) -> SeedItem:
    """Return a seed that is a part of a file."""
    return SeedItem(name, hashlib.sha256(data).hexdigest(), lambda: data, path=path)


def folder_item(path: Path) -> SeedItem:
    """Return a seed that is a folder; what it is known by covers names and bytes of its files."""
    digest = hashlib.sha256()
    for file in sorted(result for result in path.rglob("*") if result.is_file() and not result.is_symlink()):
        data = read_bytes(file, DATA_BYTES)
        digest.update(f"{file.relative_to(path).as_posix()}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)

    def pack() -> bytes:
        from evolake.lake import trees

        return trees.pack(path)

    return SeedItem(path.name, digest.hexdigest(), pack, path=path)


def seeds_of(source: SeedSource, settings: Any) -> list[SeedItem]:
    """Return the seeds of a line in all folders that these settings read (`Settings.seed_folders`).

    A seed that was added below the lake replaces one of the same name that evolake brings along; no name
    means two seeds. A copy of a seed that is brought along is not listed again.
    """
    first, *further = settings.seed_folders
    result = source.items(first, settings)
    for folder in further:
        present = {item.sha for item in result}
        added = [item for item in source.items(folder, settings) if item.sha not in present]
        names = {item.name for item in added}
        result = [*(item for item in result if item.name not in names), *added]
    return result


def state_of(lake: Lake, line: str, cycle: str) -> dict[str, Any]:
    """Return the values of the state that entered a cycle; {} if it is not sealed."""
    seal, table = lake.seals.read(line, cycle), f"{INCOMING}state"
    if seal is None or seal.state != "sealed" or not lake.record(line, table, cycle):
        return {}
    rows = lake.read(line, table, cycle).select("name", "value").iter_rows()
    return {name: json.loads(value) for name, value in rows}


def newest_state(lake: Lake, line: str) -> dict[str, Any]:
    """Return the values of the state of the newest sealed population; {} before the line has begun."""
    return next(
        filter(None, (state_of(lake, line, cycle) for cycle in reversed(lake.seals.cycles(line)))), {}
    )


def entered_seeds(lake: Lake, line: str) -> dict[str, Mapping[str, Any]]:
    """Return seed_sha -> what the newest sealed population of the line knows of it (`entry`)."""
    return newest_state(lake, line).get(ENTERED, {})


def entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the state keeps of a seed. row: of `ADDED_SEEDS`."""
    return {name: row[name] for name in ("name", "cycle", "artifact_id", "state", "ruleset_hash")}


def enters(known: Mapping[str, Any] | None, ruleset_hash: str) -> bool:
    """Return whether a seed enters that the state knows as `known` (None: not at all) under these rules."""
    return known is None or (known["state"] == "blocked" and known["ruleset_hash"] != ruleset_hash)


def waiting(
    items: Iterable[SeedItem], entered: Mapping[str, Mapping[str, Any]], ruleset_hash: str
) -> list[SeedItem]:
    """Return the seeds that enter next, each content once, by name."""
    result = {item.sha: item for item in items if enters(entered.get(item.sha), ruleset_hash)}
    return sorted(result.values(), key=lambda item: (item.name, item.sha))


def is_copy(source: Path, target: Path) -> bool:
    """Return True if `target` exists and has the content of `source`."""
    item = folder_item if source.is_dir() else file_item
    return target.exists() and target.is_dir() == source.is_dir() and item(target).sha == item(source).sha


def copy_seed(source: Path, target: Path, beside: Path) -> bool:
    """Copy a file or folder to `target` so that it is there complete or not at all; return False if the same
    content is there already.

    `beside`: a folder of the same file system that no line reads seeds from.

    Raises:
        FileExistsError: something else is there.
    """
    if is_copy(source, target):
        return False
    if target.exists():
        raise FileExistsError(str(target))
    place = beside / f"{target.name}-{secrets.token_hex(8)}"
    try:
        beside.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, place)
        place.replace(target)
    finally:
        shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
        with suppress(OSError):  # another one is being added
            beside.rmdir()
    return True
