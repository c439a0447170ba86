"""A user's own folder of formulas as a suite: .cnf or .dimacs, plain or packed by gzip, xz, bzip2 or
Zstandard, with statuses from a CSV file or its lock. What is read, repaired and left out is in
`folder_reading`.

The CSV names formulas by file name, with or without its endings, and their status: `name,status` with SAT,
UNSAT or unknown (or satisfiable and unsatisfiable, in any case). A formula without a status is "unknown";
what a run proves about it counts all the same (see `metrics`). What the lock is for is shown in
`folder_lock`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unreadable, read_text, reason
from evolake.solvers.settings import folder_title
from evolake.solvers.suites.folder_lock import LOCK, FolderLock, check_lock, lock_folder, read_lock
from evolake.solvers.suites.folder_reading import (
    ENDINGS,
    SHOWN,
    LeftOut,
    Pin,
    looks_like_formula,
    read_folder,
    read_formula,
    stem_of,
)
from evolake.solvers.suites.materialize import with_files
from evolake.solvers.suites.spec import Instance, Status, Suite

WORDS: dict[str, Status] = {
    "sat": "SAT",
    "satisfiable": "SAT",
    "unsat": "UNSAT",
    "unsatisfiable": "UNSAT",
    "unknown": "unknown",
    "": "unknown",
}
STATUS_FILE = "status.csv"


def competition_suite(
    folder: Path,
    blobs: BlobStore,
    cache: Path,
    *,
    statuses: Path | None = None,
    count: int = 0,
    locked: bool = False,
) -> Suite:
    """Return the suite of all formulas below `folder`, by path; its name is `competition:` and the folder's
    name.

    Args:
        statuses: CSV file; default: the file `status.csv` in the folder, if there is one. A status that it
            gives counts before the lock's.
        count: only the first so many formulas, 0 for all. locked: whether the folder must have a lock.

    Raises:
        InputError: no such folder, no formulas, a file that is no formula, a CSV file that cannot be used, no
            lock where one is needed, or files that are not those of the lock.
    """
    files, lock = formula_files(folder), read_lock(folder)
    if lock is None and locked:
        what = f"the folder {folder} has no lock"
        raise InputError(
            what, wanted=f"{LOCK} in it, for a suite of the solvers line", do=f"evolake solvers lock {folder}"
        )
    known = _statuses_of(folder, statuses, files)
    if lock is not None:
        check_lock(folder, files, lock)
        remarks: tuple[str, ...] = ()
        shas = {
            name: _blob(files[name], pin, blobs) for name, pin in list(lock.pins.items())[: count or None]
        }
        pins = {name: lock.pins[name] for name in shas}
    else:
        reading = read_folder(files, known, keep=blobs.put, most=count)
        if not reading.pins:
            raise reading.nothing_left(folder, len(files))
        pins, remarks = reading.pins, remarks_of(reading.pins, reading.left_out)
        shas = {name: pin.sha256 for name, pin in pins.items()}
    instances = []
    for relative, pin in pins.items():
        name = str(Path(relative).with_name(stem_of(Path(relative).name)))
        status = known.get(relative, pin.status) if not pin.unsure else pin.status
        instances.append(
            Instance(name, Path(relative).parent.name or folder.name, status, shas[relative], base=name)
        )
    if twice := sorted(
        {item.name for item in instances if [other.name for other in instances].count(item.name) > 1}
    ):
        raise InputError(
            f"{folder} has a formula under two endings",
            wanted="one file a name",
            got=", ".join(twice[:5]),
            do="rename one",
        )
    return with_files(Suite(folder_title(folder), tuple(instances), remarks), blobs, cache)


def lock_formulas(
    folder: Path,
    *,
    statuses: Path | None = None,
    source: str = "",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> FolderLock:
    """Write the lock of `folder`. source: where the formulas come from, in words.

    Raises InputError: no such folder, no formulas, or what `lock_folder` and `read_statuses` raise.
    """
    files = formula_files(folder)
    return lock_folder(folder, files, _statuses_of(folder, statuses, files), source, on_progress=on_progress)


def remarks_of(pins: Mapping[str, Pin], left_out: Mapping[str, LeftOut]) -> tuple[str, ...]:
    """Return a line for each formula that was repaired and each file that was left out."""
    lines = [f"repaired {name}: {pin.repairs}" for name, pin in pins.items() if pin.repairs]
    return (*lines, *(f"left out {name}: {entry.reason}" for name, entry in left_out.items()))


def formula_files(folder: Path) -> dict[str, Path]:
    """Return path in `folder` -> file, of all its formulas in order. Raises InputError if there is no such
    folder, or none in it."""
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder}", wanted=f"a folder of {KINDS} files", do="check the path"
        )
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if looks_like_formula(path.name) and path.is_file()
    }
    if not files:
        raise InputError(
            f"there is no formula in {folder}", wanted=f"files ending in {KINDS}", do="check the path"
        )
    return files


KINDS = f"{' or '.join(ENDINGS)}, plain or packed"


def _blob(path: Path, pin: Pin, blobs: BlobStore) -> str:
    return pin.sha256 if blobs.has(pin.sha256) else blobs.put(read_formula(path).text)


def _statuses_of(folder: Path, given: Path | None, files: Iterable[str]) -> dict[str, Status]:
    """Return the statuses that are given, by the path of the file.

    Raises InputError for a CSV file that cannot be used, or that has a formula which is not there.
    """
    path = given or folder / STATUS_FILE
    if not given and not path.is_file():
        return {}
    known, files = read_statuses(path), list(files)
    if absent := sorted(known.keys() - {stem_of(Path(name).name) for name in files}):
        shown = ", ".join(absent[:SHOWN]) + (", ..." if len(absent) > SHOWN else "")
        raise InputError(
            f"{path} has {len(absent)} formulas that are not in {folder}",
            wanted="rows of formulas that are there",
            got=shown,
            do="correct the names, or remove the rows",
        )
    return {name: known[stem] for name in files if (stem := stem_of(Path(name).name)) in known}


def read_statuses(path: Path) -> dict[str, Status]:
    """Return formula's name without endings -> status. A header line is known by a second column that is none
    of the words.

    Raises InputError, naming the line.
    """
    try:
        rows = list(csv.reader(read_text(path, DATA_BYTES).splitlines()))
    except (OSError, Unreadable, csv.Error) as error:
        raise InputError(
            f"the statuses {path} cannot be read", got=reason(error), do="give a CSV file of name,status"
        ) from None
    result: dict[str, Status] = {}
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        word = row[1].strip().lower() if len(row) > 1 else None
        if word not in WORDS:
            if number == 1 and word is not None:
                continue
            raise InputError(
                f"line {number} of {path} has no status",
                wanted="name,status with SAT, UNSAT or unknown",
                got=",".join(row)[:80],
                do="correct the line",
            )
        name = stem_of(Path(row[0].strip()).name)
        if result.setdefault(name, WORDS[word]) != WORDS[word]:
            got = f"{result[name]} before, now {WORDS[word]}"
            raise InputError(
                f"line {number} of {path} gives {name} another status",
                wanted="one status per formula",
                got=got,
                do="remove a row",
            )
    return result
