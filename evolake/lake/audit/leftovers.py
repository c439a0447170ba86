"""Temporary files of writers that are dead. Each is named so that no process ever reads it; none is removed
while its writer may be alive."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from evolake.lake import disk
from evolake.lake.audit.blobs import files
from evolake.lake.audit.findings import Finding
from evolake.lake.layout import Partition
from evolake.lake.locks import hold
from evolake.lake.store import Lake

FOLDERS = (
    "tables",
    "blobs",
    "seals",
    "locks",
    "tape",
    "fetched",
    "quarantine",
    "cache/manifests",
    "cache/parts",
)
OLD_ENOUGH_S = 600.0
_OF_PROCESS = re.compile(r"\.tmp-(\d+)(-|$)")


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all temporary files; `fast` makes no difference."""
    for result in (sorted(lake.root.glob(".tmp-*")), *(files(lake.root / name) for name in FOLDERS)):
        for path in result:
            if path.name.startswith(".tmp-") and _is_stale(lake, path):
                where = path.relative_to(lake.root).as_posix()
                yield Finding(
                    "leftover",
                    "a dead writer left a temporary file",
                    where,
                    "no file",
                    f"{path.name}",
                    "remove it",
                    repair=lambda path=path: _remove(lake, path),
                )


def _is_stale(lake: Lake, path: Path) -> bool:
    """Return whether a temporary file has no writer. A part's writer holds the partition's lock. Of the
    others some name their process; no write of the rest takes ten minutes."""
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return False
    if partition := _partition(lake, path):
        return not partition.lock.with_suffix(".holder").exists() or age > OLD_ENOUGH_S
    process = _OF_PROCESS.match(path.name)
    return age > OLD_ENOUGH_S or (process is not None and not _alive(int(process[1])))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _partition(lake: Lake, path: Path) -> Partition | None:
    """Return the partition in whose folder a file is, None where it is elsewhere."""
    steps = path.relative_to(lake.root).parts
    if (
        steps[0] != "tables"
        or len(steps) not in (4, 5)
        or (len(steps) == 5 and not steps[3].startswith("cycle="))
    ):
        return None
    return Partition(
        lake.root, steps[1], steps[2], steps[3].removeprefix("cycle=") if len(steps) == 5 else None
    )


def _remove(lake: Lake, path: Path) -> str:
    partition = _partition(lake, path)
    with disk.as_lake_error(f"{path} cannot be removed", "to remove a dead writer's file"):
        if partition:
            with hold(partition.lock, what=str(partition), run_id="verify", timeout_s=0):
                disk.remove(path)
        else:
            disk.remove(path)
    return "removed a dead writer's temporary file"
