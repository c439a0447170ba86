"""A user's own folder of formulas as a suite: .cnf or .dimacs, plain or packed by gzip, xz, bzip2 or
Zstandard, with statuses from a CSV file or its lock; and the one way to a suite by the name of a spec or by
the path of a folder. What is read, repaired and left out is in `folder_reading`.

The CSV names formulas by file name, with or without its endings, and their status: `name,status` with SAT,
UNSAT or unknown (or satisfiable and unsatisfiable, in any case). A formula without a status is "unknown";
what a run proves about it counts all the same (see `measurement.metrics`).

The lock shows that runs made months apart are of the same formulas. `formulas.lock.json` in the folder has
for each file, by its path in it, the sha256 of the file and of the formula unpacked, its variables and
clauses, its status if that is known, where it comes from, and what was repaired in it. Files that cannot be
used are in it, too, with the reason. `evolake solvers lock FOLDER` writes it. A suite of a line needs one; a
file that has changed, gone or come since is shown wherever the folder is opened, and nothing is run.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.reading import DATA_BYTES, Unreadable, parse_json, read_text, reason
from evolake.reading.formula import padded, read_dimacs, shuffled, write_dimacs
from evolake.solvers.settings import folder_title
from evolake.solvers.suites.folder_reading import (
    ENDINGS,
    SHOWN,
    LeftOut,
    Pin,
    file_sha,
    looks_like_formula,
    read_folder,
    read_formula,
    stem_of,
)
from evolake.solvers.suites.fresh import FRESH, FreshKey, fresh_suite
from evolake.solvers.suites.spec import (
    STATUSES,
    Instance,
    Status,
    Suite,
    Trees,
    load_spec,
    materialize_suite,
    suite_names,
    with_files,
)

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


def named_suite(
    name: str,
    blobs: BlobStore,
    cache: Path,
    *,
    seeds: Path,
    trees: Trees | None = None,
    count: int = 0,
    statuses: Path | None = None,
    locked: bool = False,
) -> Suite:
    """Return the suite whose spec has that name, or that folder's formulas where `name` is none.

    Args:
        seeds, trees, count: as for `materialize_suite`. statuses, locked: of a folder, as for
            `competition_suite`.

    Raises:
        InputError: it is neither, or what those two raise.
    """
    if is_folder(name, seeds):
        return competition_suite(Path(name), blobs, cache, statuses=statuses, count=count, locked=locked)
    return materialize_suite(name, blobs, cache, seeds=seeds, trees=trees, count=count)


def unseen_suite(
    name: str,
    blobs: BlobStore,
    cache: Path,
    key: FreshKey,
    *,
    seeds: Path,
    count: int = 0,
    trees: Trees | None = None,
) -> Suite:
    """Return the formulas of a cycle's duels: of a spec, drawn again; of a locked folder, its formulas
    renamed and shuffled, as there is no generator of them. All have a few fresh variables and clauses, so
    that exact sizes decide nothing."""
    if not is_folder(name, seeds):
        return fresh_suite(name, blobs, cache, key, seeds=seeds, count=count, trees=trees)
    suite = competition_suite(Path(name), blobs, cache, count=count, locked=True)

    def copied(item: Instance) -> Instance:
        formula = read_dimacs(blobs.get(item.sha), lenient=True, name=item.name)
        label, rng = f"{item.name}@{key.cycle}", key.generator(item.name)
        return replace(
            item,
            name=label,
            base=label,
            sha=blobs.put(write_dimacs(shuffled(padded(formula, rng), rng))),
            path=None,
        )

    return with_files(
        replace(suite, name=f"{suite.name}-{FRESH}", instances=tuple(map(copied, suite.instances))),
        blobs,
        cache,
    )


def suite_title(name: str, seeds: Path) -> str:
    """Return the name that its runs will bear; makes no formula. Raises InputError for what is no suite."""
    if is_folder(name, seeds):
        formula_files(Path(name))
        return folder_title(Path(name))
    return load_spec(name, seeds).name


def is_folder(name: str, seeds: Path) -> bool:
    """Return whether `name` means a folder of formulas; a spec of that name goes before."""
    return name not in suite_names(seeds) and Path(name).is_dir()
