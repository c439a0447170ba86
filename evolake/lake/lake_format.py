"""The format of a lake, and which lake it is: one small file at its root says both, so that a lake of another
format is refused before anything of it is read, and what Dagster keeps of two lakes is told apart.

    <lake>/_format.json    {"format": 3, "evolake": "0.2.0", "read_by": "0.2.0", "id": "...", "check": "..."}

It is written with the first table, seal or blob; a lake that lost it gets it again at its next write, with
another id. A lake of before ids gets one at its next write. `check` is over all other keys.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
from pathlib import Path
from typing import Any

from evolake import __version__
from evolake.errors import InputError, LakeError
from evolake.lake import disk
from evolake.lake.layout import PULLING
from evolake.lake.locks import hold

FORMAT = 3
"""What this evolake reads and writes. Raise it when the bytes or the columns of a lake change their meaning,
set READ_BY to the version that does so, and OLDER_READ_BY to the commit before."""

OLDER_READ_BY = "2474d774"
"""The last commit that reads the format before."""

READ_BY = "0.2.0"
"""The oldest evolake that reads a lake of FORMAT which has a marker."""

MARKER = "_format.json"
PATIENCE_S = 60.0
"""How long a writer waits for another one that marks the lake."""
_known: dict[Path, tuple[tuple[int, int, int], str | None]] = {}


def check(root: Path) -> None:
    """Raise unless this evolake reads the lake at `root`; pass also if there is none yet, and if it has lost
    its marker.

    Raises:
        InputError: the lake is of another format, or no folder. LakeError: the marker is damaged or cannot be
            read.
    """
    path = root / MARKER
    if (root / PULLING).exists():
        do = "run `evolake lake pull` again with the same address: it continues where it was cut off"
        raise InputError(
            f"the lake {root} is not whole",
            wanted="all files of its mirror",
            got="a pull into it is running or was cut off",
            do=do,
        )
    with disk.as_lake_error(f"the lake {root} cannot be read", f"its format, in {path}"):
        try:
            data = disk.read(path)
        except FileNotFoundError:
            if root.exists() and not root.is_dir():
                raise _no_folder(root) from None
            return
        except NotADirectoryError:
            raise _no_folder(root) from None
    summary = _parse(path, data)
    if summary["format"] < FORMAT:
        raise _older(root, summary["format"])
    if summary["format"] > FORMAT:
        raise InputError(
            f"the lake {root} is of a newer format",
            wanted=f"at most format {FORMAT}, which this evolake {__version__} reads",
            got=f"format {summary['format']}, written by evolake {summary['evolake']}",
            do=(
                f"use evolake {summary['read_by']} or newer, which reads it, or name another lake "
                "(EVOLAKE_LAKE)"
            ),
        )


def require(root: Path) -> None:
    """Pass if `root` holds a lake: the marker, or a folder that only lakes have, so that a lake which lost
    its marker still is one.

    Raises:
        InputError: it holds none.
    """
    if not any((root / name).exists() for name in (MARKER, PULLING, "tables", "seals", "blobs", "tape")):
        there = root.exists()
        what, got = (
            (f"{root} is no lake", "a folder in which no evolake has written")
            if there
            else (f"there is no lake {root}", "no such folder")
        )
        raise InputError(
            what,
            wanted=f"a folder with {MARKER}",
            got=got,
            do="name the lake's folder, or run a cycle first: evolake run",
        )


def known_id(root: Path) -> str | None:
    """Return the id of the lake; None if it has none yet. Raises OSError, and LakeError if it is damaged."""
    path = root / MARKER
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    now = (status.st_ino, status.st_mtime_ns, status.st_size)
    if root not in _known or _known[root][0] != now:
        _known[root] = now, _parse(path, disk.read(path)).get("id")
    return _known[root][1]


def mark(root: Path) -> str:
    """Return the id of the lake; write the marker if there is none, or one without an id. Raises OSError."""
    if known := known_id(root):
        return known
    lock = root / "locks" / "_format.lock"
    with hold(lock, what=f"the format of {root}", run_id=str(os.getpid()), timeout_s=PATIENCE_S):
        if known := known_id(root):
            return known
        path = root / MARKER
        body = {"format": FORMAT, "evolake": __version__, "read_by": READ_BY}
        if path.exists():
            body = _parse(path, disk.read(path))
        body["id"] = secrets.token_hex(8)
        text = json.dumps(body | {"check": _check(body)})
        disk.write_atomic(path, text.encode() + b"\n", tag=f"{os.getpid()}-{threading.get_ident()}")
        return str(body["id"])


def _check(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _older(root: Path, number: int) -> InputError:
    return InputError(
        f"the lake {root} is of format {number}, which commit {OLDER_READ_BY} of evolake reads; "
        f"this one reads format {FORMAT}",
        do="name a new lake (EVOLAKE_LAKE), or check out that commit to read this one",
    )


def _parse(path: Path, data: bytes) -> dict[str, Any]:
    try:
        summary = json.loads(data)
        if (
            type(summary["format"]) is not int
            or summary["format"] < 1
            or not all(isinstance(summary[name], str) for name in ("evolake", "read_by"))
        ):
            raise ValueError("a field has the wrong type")
        if not isinstance(summary.get("id", ""), str):
            raise ValueError("an id that is no text")
        if set(summary) - {"format", "evolake", "read_by"} and summary.pop("check", None) != _check(summary):
            raise ValueError("its check sum does not fit")
        return summary
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LakeError(
            f"the lake's format, {path}, is damaged",
            wanted='one line such as {"format": 3, "evolake": "0.2.0", "read_by": "0.2.0"}',
            got=f"{type(error).__name__}: {error}",
            do=(
                "restore the file from a backup; if no newer evolake wrote this lake, remove it, and the "
                "next write makes it again"
            ),
        ) from None


def _no_folder(root: Path) -> InputError:
    return InputError(
        f"{root} is no lake",
        wanted="a folder",
        got="a file, there or above it",
        do="name the lake's folder (EVOLAKE_LAKE or --lake)",
    )
