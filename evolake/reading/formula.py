"""Formulas in conjunctive normal form: one flat array of literals and the place where each clause starts,
read and written as DIMACS, packed or plain; and the judgement of a claimed model, a certificate that needs no
trust in the solver.

Flat arrays because a benchmark instance has up to millions of clauses: reading, renaming and model checking
are then a few numpy operations. The reader is strict, since a formula that differs from its file makes every
verdict on it worthless: junk, a clause without its 0 and a header that disagrees with the body are errors.
SATLIB's `%` line ends a file, comments may be on any separate line, and a byte order mark before the first
line is skipped. Formulas of suites are read by `suites.folder_reading`, which repairs what can be understood
and reports it.

Formulas and proofs are unpacked by their first bytes, within the bounds of `evolake.reading`; none begins as
a packed file does. A name whose ending promises a packing that the bytes do not have is an error, since such
a file was cut or mixed up.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evolake.errors import InputError
from evolake.reading import Unreadable, decompress, kind_of, read_bytes
from evolake.reading.compressed import ENDINGS as ENDINGS


def unpacked(data: bytes, ending: str, most: int, name: str) -> bytes:
    """Return the contents of a file, plain or packed.

    Args:
        data: the file's bytes. ending: of its name, with the dot. most: the largest number of bytes to
            return. name: what errors call the file.

    Raises:
        Bomb: unpacked, it is larger than that, or expands too much. Damaged: it is cut off, changed, or not
            packed as its ending says.
    """
    kind = kind_of(data) or (ENDINGS.get(ending.lower()) if data else None)
    return decompress(data, most, name=name, kind=kind) if kind else data


LARGEST_VARIABLE = 2**31 - 1
LARGEST_FILE = 2 << 30
"""Bytes of a formula's file, packed and unpacked."""
CORRECT = "correct the file, or leave it out: solvers differ in how they read it"
_COMMENT = re.compile(rb"(?m)^[ \t]*c[^\n]*$")
_END = re.compile(rb"(?m)^[ \t]*%")
_HEADER = re.compile(rb"\s*p[ \t]+cnf[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*(?:\n|$)")
_JUNK = re.compile(rb"[^0-9 \t\r\n-]|-(?![1-9])|[0-9]-|[0-9]{11}|(?<![0-9])0[0-9]")


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula over the variables 1..variables.

    literals: int32 (L,), signed DIMACS literals of all clauses in order. starts: int64 (m + 1,); clause i is
    literals[starts[i]:starts[i + 1]].
    """

    variables: int
    literals: np.ndarray
    starts: np.ndarray

    @property
    def clauses(self) -> int:
        """How many clauses there are."""
        return len(self.starts) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (
            self.variables == other.variables
            and np.array_equal(self.literals, other.literals)
            and np.array_equal(self.starts, other.starts)
        )

    __hash__ = None  # type: ignore[assignment]


def formula_of(variables: int, clauses: list[list[int]]) -> Formula:
    """Return the formula with the given clauses of DIMACS literals."""
    starts = np.zeros(len(clauses) + 1, dtype=np.int64)
    np.cumsum([len(clause) for clause in clauses], out=starts[1:])
    return Formula(
        variables, np.array([literal for clause in clauses for literal in clause], dtype=np.int32), starts
    )


def read_dimacs(data: bytes, *, lenient: bool = False, name: str = "the formula") -> Formula:
    """Return the formula that `data` spells. `lenient` takes the body's word where the header is absent or
    disagrees, and ends the last clause.

    Raises InputError, naming `name` and what is wrong.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"c" in data:
        data = _COMMENT.sub(b"", data)
    declared: tuple[int, int] | None = None
    if header := _HEADER.match(data):
        declared = int(header[1]), int(header[2])
        data = data[header.end() :]
    elif not lenient:
        wanted = "a line `p cnf VARIABLES CLAUSES` before the clauses"
        raise InputError(
            f"{name} has no header", wanted=wanted, got=_quoted_bytes(data.lstrip()[:40]), do=CORRECT
        )
    if end := _END.search(data):
        if not lenient and data[end.end() :].strip() not in {b"", b"0"}:
            got = _quoted_bytes(data[end.end() :].strip()[:40])
            raise InputError(
                f"{name} continues after its `%` line", wanted="nothing, or a lone 0", got=got, do=CORRECT
            )
        data = data[: end.start()]
    if junk := _JUNK.search(data):
        place = data[max(0, junk.start() - 15) : junk.end() + 15]
        what = f"{name} holds something that is not a literal"
        raise InputError(
            what,
            wanted="whole numbers without `+`, 0 after each clause",
            got=_quoted_bytes(place),
            do=CORRECT,
        )
    numbers = np.fromstring(data, dtype=np.int64, sep=" ") if data.strip() else np.zeros(0, dtype=np.int64)
    return _from_numbers(numbers, declared, lenient, name)


def _from_numbers(numbers: np.ndarray, declared: tuple[int, int] | None, lenient: bool, name: str) -> Formula:
    if len(numbers) and numbers[-1] != 0:
        if not lenient:
            what = f"the last clause of {name} has no end"
            raise InputError(what, wanted="0 after the last literal", got="the end of the file", do=CORRECT)
        numbers = np.append(numbers, 0)
    ends = np.flatnonzero(numbers == 0)
    largest = int(np.abs(numbers).max()) if len(numbers) else 0
    if largest > LARGEST_VARIABLE:
        raise InputError(
            f"{name} names variable {largest}",
            wanted=f"at most {LARGEST_VARIABLE}",
            got=str(largest),
            do=CORRECT,
        )
    variables, clauses = declared or (largest, len(ends))
    if variables > LARGEST_VARIABLE:
        what = f"the header of {name} declares {variables} variables"
        raise InputError(what, wanted=f"at most {LARGEST_VARIABLE}", got=str(variables), do=CORRECT)
    if not lenient and (largest > variables or len(ends) != clauses):
        raise InputError(
            f"the header of {name} disagrees with its clauses",
            wanted=f"{clauses} clauses over {variables} variables",
            got=f"{len(ends)} clauses, largest variable {largest}",
            do=CORRECT,
        )
    starts = np.zeros(len(ends) + 1, dtype=np.int64)
    starts[1:] = ends - np.arange(len(ends))
    return Formula(max(variables, largest), numbers[numbers != 0].astype(np.int32), starts)


def _quoted_bytes(data: bytes) -> str:
    return repr(data.decode("ascii", "replace")) if data else "the end of the file"


def write_dimacs(formula: Formula) -> bytes:
    """Return `formula` as DIMACS, one clause per line, without comments: equal formulas give equal bytes."""
    numbers = np.zeros(len(formula.literals) + formula.clauses, dtype=np.int64)
    clause_of = np.repeat(np.arange(formula.clauses), np.diff(formula.starts))
    numbers[np.arange(len(formula.literals)) + clause_of] = formula.literals
    body = " ".join(["0\n" if number == 0 else str(number) for number in numbers.tolist()]).replace(
        "\n ", "\n"
    )
    return f"p cnf {formula.variables} {formula.clauses}\n{body}".encode()


def renamed(formula: Formula, mapping: np.ndarray) -> Formula:
    """Return `formula` with variable v replaced by the literal mapping[v]; mapping: int (variables + 1,), a
    signed permutation with mapping[0] = 0.

    Raises InputError when it is none.
    """
    if len(mapping) != formula.variables + 1 or not np.array_equal(
        np.sort(np.abs(mapping)), np.arange(formula.variables + 1)
    ):
        raise InputError(
            "the renaming is not a permutation of the variables",
            wanted=f"each of 1..{formula.variables} once, either sign",
        )
    literals = np.sign(formula.literals) * mapping[np.abs(formula.literals)]
    return Formula(formula.variables, literals.astype(np.int32), formula.starts)


def random_renaming(variables: int, rng: np.random.Generator, *, flip: bool = True) -> np.ndarray:
    """Return a mapping for `renamed`: a random permutation, with random signs when `flip`. For few variables;
    `renamed_at_random` takes any number."""
    mapping = np.concatenate([[0], rng.permutation(variables) + 1])
    return mapping * rng.choice([-1, 1], variables + 1) if flip else mapping


def renamed_at_random(formula: Formula, rng: np.random.Generator, *, flip: bool = True) -> Formula:
    """Return `formula` with the variables that occur renamed among themselves, signs flipped when `flip`;
    clauses and literals stay in place."""
    used, index = np.unique(np.abs(formula.literals), return_inverse=True)
    new = used[rng.permutation(len(used))].astype(np.int64) * (rng.choice([-1, 1], len(used)) if flip else 1)
    return Formula(
        formula.variables, (np.sign(formula.literals) * new[index]).astype(np.int32), formula.starts
    )


def shuffled(formula: Formula, rng: np.random.Generator, *, flip: bool = True) -> Formula:
    """Return an equivalent problem in another order: the variables that occur renamed among themselves (signs
    flipped when `flip`), clauses and the literals in each permuted."""
    literals = renamed_at_random(formula, rng, flip=flip).literals
    place = rng.permutation(formula.clauses)
    lengths = np.diff(formula.starts)
    new_clause = place[np.repeat(np.arange(formula.clauses), lengths)]
    order = np.lexsort((rng.random(len(literals)), new_clause))
    new_lengths = np.zeros(formula.clauses, dtype=np.int64)
    new_lengths[place] = lengths
    return Formula(
        formula.variables, literals[order], np.concatenate([[0], np.cumsum(new_lengths)]).astype(np.int64)
    )


MOST_PADDING = 24


def padded(formula: Formula, rng: np.random.Generator) -> Formula:
    """Return `formula` with 3 to `MOST_PADDING` fresh variables and clauses of two or three of them, which
    setting all of them to true satisfies.

    It has the same models but for the fresh variables, and other numbers of variables and clauses. What a
    solver decides by exact sizes it decides otherwise here.
    """
    fresh = int(rng.integers(3, MOST_PADDING + 1))
    names = np.arange(formula.variables + 1, formula.variables + fresh + 1)
    clauses = []
    for _ in range(fresh + int(rng.integers(1, fresh + 1))):
        chosen = rng.choice(names, size=int(rng.integers(2, 4)), replace=False)
        signs = np.where(rng.random(len(chosen)) < 0.3, -1, 1)
        signs[0] = 1
        clauses.append((chosen * signs).tolist())
    extra = formula_of(formula.variables + fresh, [*clauses, names.tolist()])
    literals = np.concatenate([formula.literals, extra.literals])
    return Formula(
        formula.variables + fresh,
        literals,
        np.concatenate([formula.starts, extra.starts[1:] + len(formula.literals)]),
    )


def read_cnf_file(path: Path, *, lenient: bool = False, name: str = "") -> Formula:
    """Return the formula in a file .cnf, plain or packed. name: what errors call the file; ""
    for its path. Raises InputError."""
    return read_dimacs(read_cnf_bytes(path, name), lenient=lenient, name=name or str(path))


def read_cnf_bytes(path: Path, name: str = "") -> bytes:
    """Return contents of a regular file that may be packed, by its first bytes. Raises InputError."""
    try:
        return unpacked(read_bytes(path, LARGEST_FILE), path.suffix, LARGEST_FILE, name or str(path))
    except Unreadable as error:
        got = error.got or error.what
    except OSError as error:
        got = error.strerror or str(error)
    raise InputError(f"the formula {name or path} cannot be read", wanted=KINDS, got=got, do="check the file")


KINDS = f"DIMACS of at most {LARGEST_FILE >> 20} MiB, plain or packed by gzip, xz, bzip2 or Zstandard"


SPARSE = 100_000_000
"""With more variables than this a formula is mostly gaps, and no array is made over their names."""


def falsified_clauses(formula: Formula, model: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return the indices of the clauses that `model` does not satisfy: int64 (k,), empty for a true model.

    model: DIMACS literals in any order. A variable without a value satisfies nothing; literals of other
    variables than the formula's are ignored. Raises InputError when the model holds a literal and its
    negation, or 0.
    """
    literals = np.asarray(model if isinstance(model, np.ndarray) else list(model), dtype=np.int64).reshape(-1)
    if (literals == 0).any():
        raise InputError("a model holds 0, which is no literal")
    if (np.isin(-literals, literals)).any():
        raise InputError("a model gives one variable both values")
    if formula.variables > SPARSE:
        satisfied = np.isin(formula.literals, literals)
    else:
        literals = literals[np.abs(literals) <= formula.variables]
        value = np.zeros(formula.variables + 1, dtype=np.int8)
        value[np.abs(literals)] = np.sign(literals)
        satisfied = value[np.abs(formula.literals)] == np.sign(formula.literals)
    running = np.zeros(len(satisfied) + 1, dtype=np.int64)
    np.cumsum(satisfied, out=running[1:])
    return np.flatnonzero(running[formula.starts[1:]] == running[formula.starts[:-1]])
