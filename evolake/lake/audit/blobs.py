"""Blobs: each holds the bytes that its name says, and no file among them has another name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from evolake.lake import disk
from evolake.lake.audit.findings import AGAIN, Finding
from evolake.lake.store import Lake

_PLACE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}")


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all blobs; `fast` looks at their names alone."""
    root = lake.root / "blobs"
    for path in files(root):
        place = path.relative_to(root).as_posix()
        where = f"blobs/{place}"
        if path.name.startswith(".tmp-"):
            continue
        if not _PLACE.fullmatch(place):
            yield Finding(
                "blob",
                "a file among the blobs has no blob's name",
                where,
                "64 hexadecimal digits",
                place,
                "move it away",
            )
        elif not fast:
            wanted, got = place.replace("/", ""), disk.file_sha(path)
            if got != wanted:
                yield Finding(
                    "blob",
                    f"the blob {wanted[:12]} is damaged",
                    where,
                    f"sha256 {wanted}",
                    f"sha256 {got}",
                    AGAIN,
                    repair=lambda path=path, wanted=wanted: _put_aside(lake, path, wanted),
                )


def files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, in order. A folder that cannot be read is an error."""
    with disk.as_lake_error(f"{folder} cannot be listed", "the files of the lake"):
        for name in disk.names(folder):
            path = folder / name
            if path.is_dir() and not path.is_symlink():
                yield from files(path)
            else:
                yield path


def _put_aside(lake: Lake, path: Path, wanted: str) -> str:
    with disk.as_lake_error(f"the blob {path} cannot be put aside", "to move it to quarantine"):
        got = hashlib.sha256(disk.read(path)).hexdigest() if path.exists() else wanted
        if got == wanted:
            return "was repaired already"
        aside = lake.blobs.put_aside(path, got)
    return f"damaged blob moved to {aside.relative_to(lake.root)}"
