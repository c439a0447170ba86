"""A user's own folder of formulas as a suite: .cnf, .cnf.gz and .cnf.xz, with statuses from a CSV file where there is one.

The CSV names formulas by file name, with or without its endings, and their status: `name,status` with SAT, UNSAT or unknown (or satisfiable and
unsatisfiable, in any case). A formula without a status is "unknown"; what a run proves about it counts all the same (see `metrics`).
"""

from __future__ import annotations

import csv
from pathlib import Path

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.solvers.formula.cnf import read_cnf_bytes, read_dimacs
from evolake.solvers.suites.materialize import with_files
from evolake.solvers.suites.spec import Instance, Status, Suite

ENDINGS = (".cnf", ".cnf.gz", ".cnf.xz")
WORDS: dict[str, Status] = {"sat": "SAT", "satisfiable": "SAT", "unsat": "UNSAT", "unsatisfiable": "UNSAT", "unknown": "unknown", "": "unknown"}


def competition_suite(folder: Path, blobs: BlobStore, cache: Path, *, statuses: Path | None = None, count: int = 0) -> Suite:
    """The suite of all formulas below `folder`, by path; its name is `competition:` and the folder's name.

    Args:
        statuses: CSV file; default: the file `status.csv` in the folder, if there is one. count: only the first so many formulas, 0 for all.

    Raises:
        InputError: no such folder, no formulas, a file that is no formula, or a CSV file that cannot be used.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", wanted="a folder of .cnf, .cnf.gz or .cnf.xz files", do="check the path")
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith(ENDINGS) and path.is_file())[: count or None]
    if not paths:
        raise InputError(f"there is no formula in {folder}", wanted="files ending in .cnf, .cnf.gz or .cnf.xz", do="check the path")
    default = folder / "status.csv"
    known = read_statuses(statuses or default) if statuses or default.is_file() else {}
    instances = []
    for path in paths:
        data = read_cnf_bytes(path)
        read_dimacs(data, lenient=True, name=path.name)
        relative = path.relative_to(folder)
        name = str(relative.with_name(stem_of(path.name)))
        family = relative.parent.name or folder.name
        instances.append(Instance(name, family, known.get(stem_of(path.name), "unknown"), blobs.put(data), base=name))
    if twice := sorted({item.name for item in instances if [other.name for other in instances].count(item.name) > 1}):
        raise InputError(f"{folder} has a formula under two endings", wanted="one file a name", got=", ".join(twice[:5]))
    return with_files(Suite(f"competition:{folder.name}", tuple(instances)), blobs, cache)


def read_statuses(path: Path) -> dict[str, Status]:
    """Formula's name without endings -> status. A header line is known by a second column that is none of the words.

    Raises InputError, naming the line.
    """
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the statuses {path} cannot be read", got=str(error), do="give a CSV file of name,status") from None
    found: dict[str, Status] = {}
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        word = row[1].strip().lower() if len(row) > 1 else None
        if word not in WORDS:
            if number == 1 and word is not None:
                continue
            raise InputError(f"line {number} of {path} has no status", wanted="name,status with SAT, UNSAT or unknown", got=",".join(row)[:80])
        found[stem_of(Path(row[0].strip()).name)] = WORDS[word]
    return found


def stem_of(name: str) -> str:
    """A file's name without .cnf, .cnf.gz or .cnf.xz."""
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return name[: -len(ending)]
    return name
