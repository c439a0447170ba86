"""A user's own folder of formulas as a suite: .cnf, plain or packed by gzip, xz, bzip2 or Zstandard, with statuses from a CSV file or its lock.

The CSV names formulas by file name, with or without its endings, and their status: `name,status` with SAT, UNSAT or unknown (or satisfiable and
unsatisfiable, in any case). A formula without a status is "unknown"; what a run proves about it counts all the same (see `metrics`). What the lock is
for is told in `folder_lock`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unreadable, read_text, reason
from evolake.reading.compressed import ENDINGS as PACKED
from evolake.solvers.formula.cnf import for_solvers, read_cnf_bytes
from evolake.solvers.settings import folder_title
from evolake.solvers.suites.folder_lock import LOCK, Pin, check_lock, lock_folder, read_lock
from evolake.solvers.suites.materialize import with_files
from evolake.solvers.suites.spec import Instance, Status, Suite

ENDINGS = (".cnf", *(f".cnf{ending}" for ending in PACKED))
WORDS: dict[str, Status] = {"sat": "SAT", "satisfiable": "SAT", "unsat": "UNSAT", "unsatisfiable": "UNSAT", "unknown": "unknown", "": "unknown"}
STATUS_FILE = "status.csv"
SHOWN = 5


def competition_suite(
    folder: Path, blobs: BlobStore, cache: Path, *, statuses: Path | None = None, count: int = 0, locked: bool = False,
) -> Suite:
    """The suite of all formulas below `folder`, by path; its name is `competition:` and the folder's name.

    Args:
        statuses: CSV file; default: the file `status.csv` in the folder, if there is one. A status that it gives counts before the lock's.
        count: only the first so many formulas, 0 for all. locked: whether the folder must have a lock.

    Raises:
        InputError: no such folder, no formulas, a file that is no formula, a CSV file that cannot be used, no lock where one is needed, or files that
            are not those of the lock.
    """
    files, pins = formula_files(folder), read_lock(folder)
    if pins is None and locked:
        what = f"the folder {folder} has no lock"
        raise InputError(what, wanted=f"{LOCK} in it, for a suite of the solvers line", do=f"evolake solvers lock {folder}")
    if pins is not None:
        check_lock(folder, files, pins)
    known = _statuses_of(folder, statuses, files)
    instances = []
    for relative, path in list(files.items())[: count or None]:
        name = str(Path(relative).with_name(stem_of(path.name)))
        pin = (pins or {}).get(relative)
        status = known.get(stem_of(path.name), pin.status if pin else "unknown")
        instances.append(Instance(name, Path(relative).parent.name or folder.name, status, _blob(path, pin, blobs), base=name))
    if twice := sorted({item.name for item in instances if [other.name for other in instances].count(item.name) > 1}):
        raise InputError(f"{folder} has a formula under two endings", wanted="one file a name", got=", ".join(twice[:5]))
    return with_files(Suite(folder_title(folder), tuple(instances)), blobs, cache)


def lock_formulas(
    folder: Path, *, statuses: Path | None = None, source: str = "", on_progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Pin]:
    """Writes the lock of `folder`: path in it -> what is pinned. source: where the formulas come from, in words.

    Raises InputError: no such folder, no formulas, or what `lock_folder` and `read_statuses` raise.
    """
    files = formula_files(folder)
    known = _statuses_of(folder, statuses, files)
    details: dict[str, Status] = {name: known[stem] for name, path in files.items() if (stem := stem_of(path.name)) in known}
    return lock_folder(folder, files, details, source, on_progress=on_progress)


def formula_files(folder: Path) -> dict[str, Path]:
    """Path in `folder` -> file, of all its formulas in order. Raises InputError where there is no such folder, or none in it."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", wanted=f"a folder of {KINDS} files", do="check the path")
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.name.endswith(ENDINGS) and path.is_file()}
    if not files:
        raise InputError(f"there is no formula in {folder}", wanted=f"files ending in {KINDS}", do="check the path")
    return files


KINDS = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"


def _blob(path: Path, pin: Pin | None, blobs: BlobStore) -> str:
    if pin is not None and blobs.has(pin.sha256):
        return pin.sha256
    return blobs.put(for_solvers(read_cnf_bytes(path), str(path))[0])


def _statuses_of(folder: Path, given: Path | None, files: Iterable[str]) -> dict[str, Status]:
    """Return the statuses of a folder by formula. Raises InputError for a CSV file that cannot be used, or that has a formula which is not there."""
    path = given or folder / STATUS_FILE
    if not given and not path.is_file():
        return {}
    known = read_statuses(path)
    if absent := sorted(known.keys() - {stem_of(Path(name).name) for name in files}):
        shown = ", ".join(absent[:SHOWN]) + (", ..." if len(absent) > SHOWN else "")
        raise InputError(
            f"{path} has {len(absent)} formulas that are not in {folder}", wanted="rows of formulas that are there", got=shown,
            do="correct the names, or remove the rows",
        )
    return known


def read_statuses(path: Path) -> dict[str, Status]:
    """Formula's name without endings -> status. A header line is known by a second column that is none of the words.

    Raises InputError, naming the line.
    """
    try:
        rows = list(csv.reader(read_text(path, DATA_BYTES).splitlines()))
    except (OSError, Unreadable, csv.Error) as error:
        raise InputError(f"the statuses {path} cannot be read", got=reason(error), do="give a CSV file of name,status") from None
    result: dict[str, Status] = {}
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        word = row[1].strip().lower() if len(row) > 1 else None
        if word not in WORDS:
            if number == 1 and word is not None:
                continue
            raise InputError(f"line {number} of {path} has no status", wanted="name,status with SAT, UNSAT or unknown", got=",".join(row)[:80],
                             do="correct the line")
        name = stem_of(Path(row[0].strip()).name)
        if result.setdefault(name, WORDS[word]) != WORDS[word]:
            got = f"{result[name]} before, now {WORDS[word]}"
            raise InputError(f"line {number} of {path} gives {name} another status", wanted="one status per formula", got=got, do="remove a row")
    return result


def stem_of(name: str) -> str:
    """A file's name without the endings of `ENDINGS`."""
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return name[: -len(ending)]
    return name
