"""The lake's side of a mirror: its files, and what this lake was last mirrored as."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from evolake.errors import InputError, LakeError
from evolake.lake import disk
from evolake.lake.layout import MIRRORED, PULLING

LEFT_OUT = frozenset({"locks", "quarantine", "cache", "work", "seeds", "README.md", MIRRORED, PULLING})
"""Entries of a lake's root that are no part of a mirror: what is made again, what is of one machine, and what
comes with the project."""


def files(root: Path) -> Iterator[str]:
    """Yield every file that a mirror holds, by its path below the root. Raises LakeError where a folder
    cannot be read."""
    with disk.as_lake_error(f"the lake {root} cannot be listed", "its files"):
        for name in disk.names(root):
            if name not in LEFT_OUT and not name.startswith("."):
                path = root / name
                yield from _below(root, path) if path.is_dir() else (name,)


def _below(root: Path, folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _below(root, Path(entry.path))
            elif not entry.name.startswith(".tmp-") and entry.is_file(follow_symlinks=False):
                yield os.path.relpath(entry.path, root)


def noted(root: Path, url: str) -> int | None:
    """Return the number of the snapshot of `url` that this lake was last pushed or pulled as; None where it
    never was."""
    number = _notes(root).get(url)
    return number if isinstance(number, int) else None


def note(root: Path, url: str, number: int) -> None:
    """Remember that the lake is what the snapshot `number` of `url` says."""
    disk.write_atomic(
        root / MIRRORED,
        json.dumps(_notes(root) | {url: number}, indent=1).encode() + b"\n",
        tag=str(os.getpid()),
    )


def _notes(root: Path) -> dict[str, object]:
    path = root / MIRRORED
    try:
        return dict(json.loads(disk.read(path)))
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        do = "remove the file; a push or pull then wants lake and mirror to be the same"
        raise LakeError(
            f"{path} is damaged", wanted="one JSON object: address -> number", got=str(error), do=do
        ) from None


def checked(root: Path, path: str) -> Path:
    """Return where a file of a snapshot belongs. Raises InputError for a path that leads elsewhere: a mirror
    is not to be trusted with that."""
    steps = path.split("/")
    if (
        path.startswith("/")
        or any(step in ("", ".", "..") for step in steps)
        or steps[0] in LEFT_OUT
        or "\0" in path
    ):
        raise InputError(
            f"the mirror names a file {path!r} that no lake has",
            wanted="a path inside of the lake",
            do="pull from a mirror of a lake",
        )
    return root / path
