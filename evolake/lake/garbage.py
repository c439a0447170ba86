"""What a lake holds that is not needed, and its removal: blobs that nothing names, and what dead writers left
unfinished.

Superseded parts, quarantine and the call cache are no garbage: they are the record of what was. A writer
stores a blob before the row that names it, so a blob counts only when it has not been written, or asked for
by `put`, for `older_than_s`; and nothing is collected while a line is running.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evolake.errors import LakeError
from evolake.lake import disk, reach
from evolake.lake.audit import leftovers
from evolake.lake.chained import VERIFY
from evolake.lake.inventory import take_inventory
from evolake.lake.store import Lake

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
    there = reach.blobs_there(lake)
    needed = reach.needed(lake, there)
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
    for finding in leftovers.check(lake, fast=True):
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
