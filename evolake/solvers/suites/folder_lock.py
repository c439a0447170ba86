"""The lock of a user's folder of formulas: which files it holds, byte for byte, so that runs made months
apart are known to be of the same formulas.

`formulas.lock.json` in the folder: for each file, by its path in it, the sha256 of the file and of the
formula unpacked, its variables and clauses, its status where that is known, where it comes from, and what was
repaired in it (`evolake.solvers.formula.repair`). Files that cannot be used are in it, too, with the reason:
they are left out of every suite. `evolake solvers lock FOLDER` writes it. A suite of a line needs one; a file
that has changed, gone or come since is shown wherever the folder is opened, and nothing is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from evolake.errors import InputError
from evolake.reading import DATA_BYTES, parse_json, read_text, reason
from evolake.solvers.suites.folder_reading import SHOWN, LeftOut, Pin, file_sha, read_folder
from evolake.solvers.suites.spec import STATUSES, Status

LOCK = "formulas.lock.json"
VERSION = 1


@dataclass(frozen=True)
class FolderLock:
    """What a lock says of a folder. pins, left_out: by path in the folder; together they are all files that
    look like formulas."""

    pins: Mapping[str, Pin]
    left_out: Mapping[str, LeftOut]


def lock_folder(
    folder: Path,
    files: Mapping[str, Path],
    statuses: Mapping[str, Status],
    source: str = "",
    *,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> FolderLock:
    """Write the lock of `folder`; what a lock that is there knows of an unchanged file and nothing here says
    stays.

    A file that cannot be used and all but one of equal formulas are left out by name. If clauses of a formula
    may have been lost, its status is "unknown", whatever was given.

    Args:
        files: path in the folder -> file. statuses: path in the folder -> status, of those that are known.
            source: of files that have none yet.

    Raises:
        InputError: no file can be used, equal formulas have different statuses, or the lock cannot be read or
            written.
    """
    before = read_lock(folder)
    known = before.pins if before else {}
    unchanged = {
        name: pin for name, pin in known.items() if name in files and pin.file_sha256 == file_sha(files[name])
    }
    given: dict[str, Status] = {name: pin.status for name, pin in unchanged.items()}
    reading = read_folder(files, given | dict(statuses), on_progress=on_progress)
    if not reading.pins:
        raise reading.nothing_left(folder, len(files))
    lock = FolderLock(
        {
            name: replace(pin, source=source or (unchanged[name].source if name in unchanged else ""))
            for name, pin in reading.pins.items()
        },
        reading.left_out,
    )
    text = (
        json.dumps(
            {
                "version": VERSION,
                "formulas": {name: asdict(pin) for name, pin in lock.pins.items()},
                "left_out": {name: asdict(entry) for name, entry in lock.left_out.items()},
            },
            indent=1,
        )
        + "\n"
    )
    beside = folder / f".{LOCK}-{os.getpid()}"
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(folder / LOCK)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            f"the lock of {folder} cannot be written",
            got=error.strerror or str(error),
            do="make the folder writable",
        ) from None
    return lock


def read_lock(folder: Path) -> FolderLock | None:
    """Return what the lock of a folder says; None if there is no lock. Raises InputError for one that cannot
    be used."""
    path = folder / LOCK
    try:
        data = parse_json(read_text(path, DATA_BYTES), name=str(path))
        pins = {str(name): Pin(**entry) for name, entry in data["formulas"].items()}
        left_out = {str(name): LeftOut(**entry) for name, entry in data.get("left_out", {}).items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        got = reason(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"the lock {path} cannot be used",
            got=got,
            do="remove it and lock the folder again: evolake solvers lock",
        ) from None
    if odd := sorted({pin.status for pin in pins.values()} - set(STATUSES)):
        raise InputError(
            f"the lock {path} has a status that is none",
            wanted=", ".join(STATUSES),
            got=str(odd[0]),
            do="fix the lock",
        )
    return FolderLock(pins, left_out)


def check_lock(folder: Path, files: Mapping[str, Path], lock: FolderLock) -> None:
    """Raise InputError, naming each kind of difference, if the folder does not hold the very files of its
    lock."""
    pins = {name: entry.file_sha256 for name, entry in (*lock.left_out.items(), *lock.pins.items())}
    changed = [name for name, path in sorted(files.items()) if name in pins and file_sha(path) != pins[name]]
    parts = [
        f"{len(names)} {word} ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})"
        for word, names in (
            ("changed", changed),
            ("new", sorted(files.keys() - pins.keys())),
            ("missing", sorted(pins.keys() - files.keys())),
        )
        if names
    ]
    if parts:
        raise InputError(
            f"the formulas of {folder} are not those of its lock",
            wanted=f"the {len(pins)} files that {LOCK} pins",
            got="; ".join(parts),
            do=f"put them back, or lock the folder again: evolake solvers lock {folder}",
        )
