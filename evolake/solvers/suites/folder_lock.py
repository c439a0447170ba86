"""The lock of a user's folder of formulas: which files it holds, byte for byte, so that runs made months apart are known to be of the same formulas.

`formulas.lock.json` in the folder: for each file, by its path in it, the sha256 of the file and of the formula unpacked, its variables and clauses,
its status where that is known, and where it comes from. `evolake solvers lock FOLDER` writes it. A suite of a line needs one; a file that has
changed, gone or come since is told wherever the folder is opened, and nothing is run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from evolake.errors import InputError
from evolake.reading import DATA_BYTES, parse_json, read_text, reason
from evolake.reading.files import open_regular
from evolake.solvers.formula.cnf import for_solvers, read_cnf_bytes
from evolake.solvers.suites.spec import STATUSES, Status

LOCK = "formulas.lock.json"
VERSION = 1
SHOWN = 5


@dataclass(frozen=True)
class Pin:
    """One file. file_sha256: of the file as it lies there. sha256: of the text that solvers are given
    (unpacked, see `cnf.for_solvers`), its name in the blob store. source: where it is from."""

    file_sha256: str
    sha256: str
    variables: int
    clauses: int
    status: Status = "unknown"
    source: str = ""


def pin_of(path: Path, status: Status = "unknown", source: str = "") -> Pin:
    """What a lock says of one file. Raises InputError where it is no formula."""
    data, formula = for_solvers(read_cnf_bytes(path), str(path))
    return Pin(file_sha(path), hashlib.sha256(data).hexdigest(), formula.variables, formula.clauses, status, source)


def file_sha(path: Path) -> str:
    """sha256 of a file. Raises InputError where it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"the formula {path} cannot be read", got=error.strerror or str(error), do="check the path") from None


def lock_folder(
    folder: Path, files: Mapping[str, Path], statuses: Mapping[str, Status], source: str = "", *,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> dict[str, Pin]:
    """Writes the lock of `folder`; what a lock that is there knows of an unchanged file and nothing here says stays.

    Args:
        files: path in the folder -> file. statuses: path in the folder -> status, of those that are known. source: of files that have none yet.

    Raises:
        InputError: a file is no formula, or the lock cannot be read or written.
    """
    known, pins, bad = read_lock(folder) or {}, {}, []
    for number, (name, path) in enumerate(sorted(files.items()), start=1):
        try:
            result, old = pin_of(path), known.get(name)
        except InputError as error:
            bad.append(error)
            continue
        same = old if old and (old.sha256 == result.sha256 or old.file_sha256 == result.file_sha256) else None
        status = statuses.get(name, same.status if same else "unknown")
        pins[name] = Pin(result.file_sha256, result.sha256, result.variables, result.clauses, status, source or (same.source if same else ""))
        if on_progress:
            on_progress(number, len(files), name)
    if bad:
        raise _together(bad, folder, len(files))
    text = json.dumps({"version": VERSION, "formulas": {name: asdict(pin) for name, pin in pins.items()}}, indent=1) + "\n"
    beside = folder / f".{LOCK}-{os.getpid()}"
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(folder / LOCK)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"the lock of {folder} cannot be written", got=error.strerror or str(error), do="make the folder writable") from None
    return pins


def _together(bad: list[InputError], folder: Path, files: int) -> InputError:
    """Return one error of all files that are no formulas: the user should not find them one by one."""
    if len(bad) == 1:
        return bad[0]
    got = "; ".join(error.what for error in bad[:SHOWN]) + ("; ..." if len(bad) > SHOWN else "")
    return InputError(f"{len(bad)} of {files} files of {folder} cannot be used", wanted=bad[0].wanted, got=got, do=bad[0].do)


def read_lock(folder: Path) -> dict[str, Pin] | None:
    """Path in the folder -> what its lock says; None where there is no lock. Raises InputError for one that cannot be used."""
    path = folder / LOCK
    try:
        data = parse_json(read_text(path, DATA_BYTES), name=str(path))
        pins = {str(name): Pin(**entry) for name, entry in data["formulas"].items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        got = reason(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"the lock {path} cannot be used", got=got, do="remove it and lock the folder anew: evolake solvers lock") from None
    if odd := sorted({pin.status for pin in pins.values()} - set(STATUSES)):
        raise InputError(f"the lock {path} has a status that is none", wanted=", ".join(STATUSES), got=str(odd[0]), do="mend the lock")
    return pins


def check_lock(folder: Path, files: Mapping[str, Path], pins: Mapping[str, Pin]) -> None:
    """Raises InputError, naming each kind of difference, where the folder does not hold the very files of its lock."""
    changed = [name for name, path in sorted(files.items()) if name in pins and file_sha(path) != pins[name].file_sha256]
    parts = [
        f"{len(names)} {word} ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})"
        for word, names in (("changed", changed), ("new", sorted(files.keys() - pins.keys())), ("missing", sorted(pins.keys() - files.keys())))
        if names
    ]
    if parts:
        raise InputError(
            f"the formulas of {folder} are not those of its lock", wanted=f"the {len(pins)} files that {LOCK} pins", got="; ".join(parts),
            do=f"put them back, or lock the folder anew: evolake solvers lock {folder}",
        )
