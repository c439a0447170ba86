"""Read all formulas of a user's folder once: what each file holds, what was repaired in it, and which files
are left out and why.

Left out are files that hold no formula or one in another format, damaged archives, and all but the first of
equal formulas.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evolake.errors import InputError
from evolake.reading.compressed import ENDINGS as PACKED
from evolake.reading.files import open_regular
from evolake.solvers.formula.cnf import Formula, read_cnf_bytes
from evolake.solvers.formula.repair import OTHER_ENDINGS, Repaired, other_format, repaired
from evolake.solvers.suites.spec import Status

ENDINGS = (".cnf", ".dimacs")
"""Endings of a formula's name, in any case, with or without that of a packing."""
SHOWN = 5


@dataclass(frozen=True)
class Pin:
    """One file. file_sha256: of the file as it is there. sha256: of the text that solvers are given
    (unpacked and repaired), its name in the blob store. source: where it is from. repairs: what was repaired,
    by line. unsure: whether clauses may have been lost, so that its status is "unknown" whatever is given."""

    file_sha256: str
    sha256: str
    variables: int
    clauses: int
    status: Status = "unknown"
    source: str = ""
    repairs: str = ""
    unsure: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A file that is in no suite. reason: one sentence, with the line if there is one."""

    file_sha256: str
    reason: str


@dataclass
class FolderReading:
    """What was read so far. pins, left_out: by path in the folder. errors: of the files that cannot be
    used."""

    pins: dict[str, Pin] = field(default_factory=dict)
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    errors: list[InputError] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, path: Path, status: Status, keep: Callable[[bytes], object]) -> None:
        """Read one file. keep: gets the text for solvers of a formula that is new.

        Raises:
            InputError: it is equal to a formula of another status.
        """
        sha = file_sha(path)
        try:
            formula = read_formula(path)
        except InputError as error:
            self.errors.append(error)
            self.left_out[name] = LeftOut(sha, _sentence(error, path))
            return
        status = "unknown" if formula.unsure else status
        first = self._names.setdefault(_content(formula.formula), name)
        if first != name:
            self._merge_status(first, name, status)
            repairs = "; ".join(map(str, formula.repairs))
            self.left_out[name] = LeftOut(
                sha, f"the same formula as {first}" + (f" ({repairs})" if repairs else "")
            )
            return
        keep(formula.text)
        self.pins[name] = Pin(
            sha,
            hashlib.sha256(formula.text).hexdigest(),
            formula.formula.variables,
            formula.formula.clauses,
            status,
            repairs="; ".join(map(str, formula.repairs)),
            unsure=formula.unsure,
        )

    def nothing_left(self, folder: Path, files: int) -> InputError:
        """Return the error of a folder in which no file can be used: one error for all of them."""
        if len(self.errors) == 1:
            return self.errors[0]
        got = "; ".join(error.what for error in self.errors[:SHOWN]) + (
            "; ..." if len(self.errors) > SHOWN else ""
        )
        what = f"{len(self.errors)} of {files} files of {folder} cannot be used"
        return InputError(what, wanted=self.errors[0].wanted, got=got, do=self.errors[0].do)

    def _merge_status(self, first: str, name: str, status: Status) -> None:
        kept = self.pins[first]
        if kept.status == "unknown":
            self.pins[first] = replace(kept, status=status)
        elif status not in {"unknown", kept.status}:
            raise InputError(
                f"{name} is the same formula as {first}, with another status",
                wanted="one status for each formula",
                got=f"{kept.status} and {status}",
                do="correct the statuses",
            )


def read_folder(
    files: Mapping[str, Path],
    statuses: Mapping[str, Status],
    *,
    keep: Callable[[bytes], object] = lambda text: None,
    most: int = 0,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> FolderReading:
    """Read files in the order of their names. most: only until so many formulas were found; 0: all. Errors as
    of `FolderReading.add`."""
    reading = FolderReading()
    for number, (name, path) in enumerate(sorted(files.items()), start=1):
        reading.add(name, path, statuses.get(name, "unknown"), keep)
        if on_progress:
            on_progress(number, len(files), name)
        if most and len(reading.pins) == most:
            break
    return reading


def read_formula(path: Path) -> Repaired:
    """Return the formula of a file and its text for solvers. Raises InputError if it cannot be used."""
    if (format_ := other_format(unpacked_name(path.name))) is not None:
        raise InputError(
            f"{path} is in another format: {format_}",
            wanted="DIMACS CNF",
            got=f"the ending {path.suffix}",
            do="leave it out",
        )
    return repaired(read_cnf_bytes(path), str(path))


def looks_like_formula(name: str) -> bool:
    """Return whether a file's name ends as that of a formula, of this or another format."""
    return unpacked_name(name).lower().endswith((*ENDINGS, *OTHER_ENDINGS))


def stem_of(name: str) -> str:
    """Return a file's name without its endings."""
    bare = unpacked_name(name)
    return next((bare[: -len(ending)] for ending in ENDINGS if bare.lower().endswith(ending)), bare)


def unpacked_name(name: str) -> str:
    """Return a file's name without the ending of a packing."""
    return next((name[: -len(ending)] for ending in PACKED if name.lower().endswith(ending)), name)


def file_sha(path: Path) -> str:
    """Return sha256 of a file. Raises InputError where it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"the formula {path} cannot be read", got=error.strerror or str(error), do="check the path"
        ) from None


def _sentence(error: InputError, path: Path) -> str:
    """Return what is wrong with a file and where, without its path."""
    what = error.what.replace(f"the formula {path}", "the file").replace(str(path), "the file")
    return f"{what} ({error.got})" if error.got else what


def _content(formula: Formula) -> str:
    """Return a hash that equal formulas share, whatever their comments and blanks."""
    digest = hashlib.sha256(np.int64(formula.variables).tobytes())
    digest.update(np.ascontiguousarray(formula.starts).tobytes())
    digest.update(np.ascontiguousarray(formula.literals).tobytes())
    return digest.hexdigest()
