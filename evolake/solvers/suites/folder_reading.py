"""Read all formulas of a user's folder once, as people publish them: what each file holds, what was
repaired in it (a header that is missing or wrong, `+1`, CRLF, a last clause without its 0), and which files
are left out and why. Each repair says the line, what was there and what was done. What is another format, or
nothing that can be understood, is refused.

Solvers differ in how they read such files, so they get the repaired text (`Repaired.text`) and never the
file. The strict reader is `evolake.reading.formula.read_dimacs`; proofs are checked against what that one
reads.

Left out are files that hold no formula or one in another format, damaged archives, and all but the first of
equal formulas.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evolake.errors import InputError
from evolake.reading.compressed import ENDINGS as PACKED
from evolake.reading.files import open_regular
from evolake.reading.formula import Formula, read_cnf_bytes, read_dimacs, write_dimacs
from evolake.solvers.suites.spec import Status

DO = "correct the file, or leave it out"
OTHER_ENDINGS = {
    ".wcnf": "WCNF, a format of MaxSAT",
    ".icnf": "iCNF, incremental CNF",
    ".inccnf": "iCNF, incremental CNF",
    ".xnf": "XNF, clauses of XORs",
    ".xcnf": "CNF with XOR clauses",
    ".knf": "KNF, CNF with cardinality constraints",
    ".cnfp": "CNF+, CNF with cardinality constraints",
    ".qdimacs": "QDIMACS, a format of QBF",
    ".qcnf": "QDIMACS, a format of QBF",
    ".opb": "OPB, a pseudo-Boolean format",
    ".smt2": "SMT-LIB",
    ".aag": "AIGER",
    ".aig": "AIGER",
}
"""Ending of a file's name -> the format, of formulas that are not plain CNF."""
_OTHER_TEXTS = tuple(
    (re.compile(pattern), format_)
    for pattern, format_ in (
        (rb"(?mi)^[ \t]*p[ \t]+wcnf\b|^[ \t]*h[ \t]+-?[1-9]", OTHER_ENDINGS[".wcnf"]),
        (rb"(?mi)^[ \t]*p[ \t]+(?:inc|i)cnf\b", OTHER_ENDINGS[".icnf"]),
        (rb"(?mi)^[ \t]*p[ \t]+xnf\b", OTHER_ENDINGS[".xnf"]),
        (rb"(?mi)^[ \t]*p[ \t]+knf\b", OTHER_ENDINGS[".knf"]),
        (rb"(?mi)^[ \t]*p[ \t]+cnf\+", OTHER_ENDINGS[".cnfp"]),
        (rb"(?mi)^[ \t]*p[ \t]+sat\b", "SAT format, formulas that are not in CNF"),
        (rb"(?m)^[ \t]*x[ \t]*-?[1-9]", OTHER_ENDINGS[".xcnf"]),
        (rb"(?m)^[ \t]*[ae][ \t]+[1-9]", OTHER_ENDINGS[".qdimacs"]),
        (rb"(?m)^\*[ \t]*#variable=", OTHER_ENDINGS[".opb"]),
        (rb"(?m)^[ \t]*\((?:set|declare|assert|define)-?", OTHER_ENDINGS[".smt2"]),
        (rb"\Aa[ai]g \d", OTHER_ENDINGS[".aag"]),
    )
)
_COMMENT = re.compile(rb"(?m)^[ \t]*c[^\n]*$")
_PROBLEM = re.compile(rb"(?mi)^[ \t]*p\b[^\n]*$")
_HEADER = re.compile(rb"(?i)\s*p[ \t]+cnf[ \t]+(\d{1,18})[ \t]+(\d{1,18})\s*\Z")
_END = re.compile(rb"(?m)^[ \t]*%")
_PLUS = re.compile(rb"(?<![0-9+-])\+(?=[1-9])")
_JUNK = re.compile(rb"[^0-9 \t\r\n-]|-(?![1-9])|[0-9]-|[0-9]{11}|(?<![0-9])0[0-9]")


@dataclass(frozen=True)
class Repair:
    """One fault of a file that was repaired. line: from 1. unsure: whether clauses may have been lost, so
    that a status given elsewhere may be of another formula."""

    line: int
    what: str
    done: str
    unsure: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}; {self.done}"


@dataclass(frozen=True)
class Repaired:
    """A formula and its text for solvers. text: the file's own bytes if it needed no repair."""

    text: bytes
    formula: Formula
    repairs: tuple[Repair, ...] = ()

    @property
    def unsure(self) -> bool:
        """Return whether clauses may have been lost."""
        return any(repair.unsure for repair in self.repairs)


def repaired(data: bytes, name: str = "the formula") -> Repaired:
    """Return the formula in the contents of a file, and what had to be repaired.

    Raises:
        InputError: it is empty, in another format, or has something else than literals; the message names the
            line.
    """
    repairs: list[Repair] = []
    plain = data.removeprefix(codecs.BOM_UTF8)
    if plain is not data:
        repairs.append(Repair(1, "a byte order mark", "left out"))
    if b"\r" in plain:
        repairs.append(Repair(_line(plain, plain.index(b"\r")), "line ends of CR", "written as line feeds"))
        plain = plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    body = _COMMENT.sub(b"", plain) if b"c" in plain else plain
    if not body.strip(b" \t\n\0\x1a"):
        raise InputError(
            f"{name} is empty",
            wanted="a line `p cnf VARIABLES CLAUSES`, and clauses",
            got=f"{len(data)} bytes, no clause",
            do=DO,
        )
    for pattern, format_ in _OTHER_TEXTS:
        if found := pattern.search(body):
            what = f"{name} is in another format: {format_}"
            raise InputError(
                what,
                wanted="DIMACS CNF",
                got=f"line {_line(body, found.start())}: {_text_at(body, found.start())}",
                do=DO,
            )
    declared, header_line, body = _without_header(body, name, repairs)
    body = _without_end(body, repairs)
    if plus := list(_PLUS.finditer(body)):
        repairs.append(
            Repair(_line(body, plus[0].start()), f"{len(plus)} literals with a `+`", "written without it")
        )
        body = _PLUS.sub(b"", body)
    if junk := _JUNK.search(body):
        raise InputError(
            f"{name} holds something that is not a literal",
            wanted="whole numbers, 0 after each clause",
            got=f"line {_line(body, junk.start())}: {_text_at(body, junk.start())}",
            do=DO,
        )
    numbers = np.fromstring(body, dtype=np.int64, sep=" ") if body.strip() else np.zeros(0, dtype=np.int64)
    if len(numbers) and numbers[-1] != 0:
        repairs.append(
            Repair(
                _line(body, len(body.rstrip())),
                "the last clause has no 0",
                "ended there; the file may have been cut",
                unsure=True,
            )
        )
        body += b" 0\n"
        numbers = np.append(numbers, 0)
    largest, clauses = int(np.abs(numbers).max(initial=0)), int((numbers == 0).sum())
    if declared is not None:
        variables, count = declared
        if variables < largest:
            repairs.append(
                Repair(
                    header_line,
                    f"the header says {variables} variables, the largest is {largest}",
                    f"{largest} written",
                )
            )
        if count != clauses:
            done = f"{clauses} written" + ("; the file may have been cut" if count > clauses else "")
            repairs.append(
                Repair(
                    header_line, f"the header says {count} clauses, there are {clauses}", done, unsure=True
                )
            )
    variables = max(largest, declared[0] if declared else 0)
    formula = read_dimacs(f"p cnf {variables} {clauses}\n".encode() + body, name=name)
    return Repaired(write_dimacs(formula) if repairs else data, formula, tuple(repairs))


def other_format(name: str) -> str | None:
    """Return the format that a file's name without the ending of its packing stands for, if it is not plain
    CNF."""
    lower = name.lower()
    return next((format_ for ending, format_ in OTHER_ENDINGS.items() if lower.endswith(ending)), None)


def _without_header(
    body: bytes, name: str, repairs: list[Repair]
) -> tuple[tuple[int, int] | None, int, bytes]:
    """Return (variables, clauses) as declared, the header's line, and the text with that line made empty."""
    problems = list(_PROBLEM.finditer(body))
    if len(problems) > 1:
        raise InputError(
            f"{name} has {len(problems)} headers",
            wanted="one formula in a file",
            got=f"line {_line(body, problems[1].start())}: {_text_at(body, problems[1].start())}",
            do="write each formula into its own file",
        )
    if not problems:
        repairs.append(
            Repair(
                _line(body, len(body) - len(body.lstrip())), "there is no header", "written from the clauses"
            )
        )
        return None, 0, body
    [found] = problems
    line = _line(body, found.start())
    header = _HEADER.match(found[0])
    if header is None:
        repairs.append(
            Repair(line, f"the header is {_text_at(body, found.start())}", "written from the clauses")
        )
    elif body[: found.start()].strip():
        repairs.append(Repair(line, "the header is behind clauses", "moved to the start"))
    elif not found[0].lstrip().startswith(b"p") or b"cnf" not in found[0]:
        repairs.append(Repair(line, "the header is in capitals", "written in small letters"))
    rest = body[: found.start()] + body[found.end() :]
    return (None if header is None else (int(header[1]), int(header[2]))), line, rest


def _without_end(body: bytes, repairs: list[Repair]) -> bytes:
    """Return the text without SATLIB's `%` line and what follows it, and without zero bytes or Ctrl-Z at its
    end."""
    if found := _END.search(body):
        rest = body[found.end() :].strip(b" \t\n\0\x1a")
        what = "a `%` line ends the file" if rest in {b"", b"0"} else "there is text after a `%` line"
        repairs.append(
            Repair(_line(body, found.start()), what, "left out from there", unsure=rest not in {b"", b"0"})
        )
        return body[: found.start()]
    bare = body.rstrip(b" \t\n\0\x1a")
    if bare != body.rstrip():
        repairs.append(Repair(_line(body, len(bare)), "zero bytes or Ctrl-Z at the end", "left out"))
        return bare + b"\n"
    return body


def _line(body: bytes, place: int) -> int:
    return body.count(b"\n", 0, place) + 1


def _text_at(body: bytes, place: int) -> str:
    """Return the line at a place, as far as it says something, in quotes."""
    start = body.rfind(b"\n", 0, place) + 1
    end = body.find(b"\n", place)
    line = body[start : end if end >= 0 else len(body)]
    if len(line) > 60:
        line = body[max(start, place - 20) : place + 40]
    return repr(line.strip().decode("ascii", "replace"))


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
