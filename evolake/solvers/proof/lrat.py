"""Read an LRAT proof strictly, text or binary, before any checker sees it, and check it along its hints,
every step, without search. Also decide which format a proof is in.

LRAT (Cruz-Filipe, Heule, Hunt, Kaufmann, Schneider-Kamp, CADE 2017) is DRAT with identifiers and hints: the
cost of a check is that of reading the clauses that the hints name. A formula's clauses have the identifiers 1
to m in the order of the file; each step is one of

    ID LITERALS 0 HINTS 0      adds a clause; hints are identifiers of clauses, in the order in which they
                               become unit; a negative one opens the hints of one resolvent of a RAT step
    ID d IDENTIFIERS 0         deletes clauses

The binary form is `a`, ID, literals, 0, hints, 0 and `d`, identifiers, 0, each number n as 2 * |n| + sign in
groups of seven bits, as CaDiCaL 1.9.5 writes it. Required: the identifiers of added clauses grow; literals
are within 32 bits; every step is whole, and in a text on its own line.

A clause C is accepted if its hints lead to a conflict. All literals of C are made false; each hint must then
name a clause that is there and that has exactly one literal which is not false, and that literal becomes true
(unit propagation), until a clause has none: the conflict. If the hints that come first do not end in a
conflict, C must be RAT on its first literal p: each clause D that is there and holds the negation of p must
be hinted at by its negated identifier, and with the other literals of D false too, the hints that follow it
lead to a conflict; unless a literal of D is true already, which is a conflict by itself. Nothing is
remembered between steps but the clauses themselves. So a clause that is accepted, and a deletion, leave a
satisfiable set of clauses satisfiable, and the empty clause is accepted of an unsatisfiable formula only. The
rules are those of cake_lpr (Tan, Heule, Myreen, TACAS 2021), which has been verified.

How the format of a proof is decided:

1. A declared format is taken at its word, and what is plainly the other one is not read: text declared DRAT
   that derives no empty clause and has the shape of LRAT, and binary data declared LRAT that are DRAT with an
   empty clause.
2. Otherwise a name that ends in `.lrat` (before the ending of a packing) means LRAT.
3. Otherwise the bytes decide. Binary data are DRAT if they can be read as DRAT, else LRAT. A text is LRAT if
   every line has the shape of a step of LRAT (`has_lrat_shape`), and else DRAT. A DRAT proof with one
   step a line never has that shape; one that has several steps on a line should be declared.
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

import numpy as np

from evolake.reading.formula import ENDINGS, Formula
from evolake.solvers.proof.drat import (
    BadProof,
    OtherFormat,
    Proof,
    ProofSpelling,
    binary_numbers,
    is_binary,
    read_proof,
)

_DELETION = 1 << 62
"""Stands for `d` among the numbers; longer than any that is let through."""
_ADD, _DELETE = 0x61, 0x64
_NUMBER = rb"-?[1-9][0-9]{0,16}"
_STEP = re.compile(
    rb"[1-9][0-9]{0,16}[ \t]+(?:d[ \t]+(?:N[ \t]+)*0|(?:N[ \t]+)*0[ \t]+(?:N[ \t]+)*0)".replace(b"N", _NUMBER)
)
_WITHOUT_HINTS = re.compile(rb"[1-9][0-9]*[ \t]+0[ \t]+0")
LARGEST_LITERAL = 2**31 - 1


@dataclass(frozen=True)
class LratProof:
    """Steps in order. numbers: int64, identifiers, literals and hints of all steps. bounds: int64 (s, 4);
    step i has the literals numbers[bounds[i, 0]:bounds[i, 1]] and the hints, or the deleted identifiers,
    numbers[bounds[i, 2]:bounds[i, 3]]. names: int64 (s,), the identifiers of added clauses, 0 for a
    deletion."""

    numbers: np.ndarray
    bounds: np.ndarray
    names: np.ndarray

    @property
    def steps(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Yield (identifier, literals, hints) of each step; the identifier is 0 for a deletion, whose
        identifiers are the hints."""
        numbers = self.numbers
        for name, (start, end, first, last) in zip(self.names.tolist(), self.bounds.tolist(), strict=True):
            yield name, numbers[start:end].tolist(), numbers[first:last].tolist()

    @property
    def first_empty(self) -> int | None:
        """The step that adds the empty clause; None if there is none."""
        result = np.flatnonzero((self.bounds[:, 0] == self.bounds[:, 1]) & (self.names != 0))
        return int(result[0]) if len(result) else None


def has_lrat_shape(data: bytes) -> bool:
    """Return whether a text is LRAT: it has a step, every line is one step of LRAT, no step adds the empty
    clause without a hint, and the identifiers of added clauses grow.

    A line of DRAT has one 0, at its end, and begins with `d` if it deletes; a line of LRAT has two 0, or its
    `d` after a number. So a DRAT proof with one step a line, as solvers write it, never has this shape, and
    an LRAT proof never is such a DRAT proof.
    """
    last, steps = 0, 0
    for line in _steps(data):
        if not _STEP.fullmatch(line) or _WITHOUT_HINTS.fullmatch(line):
            return False
        name, second, _ = line.split(None, 2)
        if second != b"d" and int(name) <= last:
            return False
        last, steps = (last if second == b"d" else int(name)), steps + 1
    return steps > 0


def begins_as_lrat(data: bytes) -> bool:
    """Return whether the first step of a text is a step of LRAT that is none of DRAT."""
    first = next(_steps(data), b"")
    return bool(_STEP.fullmatch(first))


def _steps(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a text without the blanks at their ends, without empty ones and comments."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end].strip()
        if line and not line.startswith(b"c"):
            yield line
        start = end + 1


def read_lrat_text(data: bytes) -> LratProof:
    """Return the proof that a text spells, one step a line. Raises BadProof."""
    lines = list(_steps(data))
    for line in lines:
        if not _STEP.fullmatch(line):
            shown = line[:40].decode("ascii", "replace")
            raise BadProof(f"a line that is no step of LRAT: {shown!r}")
    data = b"\n".join(lines)
    data = data.replace(b"d", b" %d" % _DELETION)
    numbers = np.fromstring(data, dtype=np.int64, sep=" ") if data.strip() else np.zeros(0, dtype=np.int64)
    following = iter(np.flatnonzero(numbers == 0).tolist())
    marks = set(np.flatnonzero(numbers == _DELETION).tolist())
    bounds, names, place = [], [], 0
    while place < len(numbers):
        if place + 1 in marks:
            start = end = first = place + 2
            names.append(0)
        else:
            start, end = place + 1, _next(following)
            first = end + 1
            names.append(int(numbers[place]))
        bounds.append((start, end, first, _next(following)))
        place = bounds[-1][-1] + 1
    return _checked(numbers, bounds, names)


def read_lrat_binary(data: bytes) -> LratProof:
    """Return the proof that binary data spell. Raises BadProof."""
    value, length = binary_numbers(data, longest=9)
    signed = np.where(value & 1, -(value >> 1), value >> 1)
    if (value == 1).any():
        raise BadProof("a negated 0")
    following = iter(np.flatnonzero(value == 0).tolist())
    bounds, names, place = [], [], 0
    while place < len(value):
        letter = int(value[place]) if length[place] == 1 else 0
        if letter not in (_ADD, _DELETE):
            raise BadProof("a step that begins with neither `a` nor `d`")
        if letter == _DELETE:
            start = end = first = place + 1
            names.append(0)
        else:
            start, end = place + 2, _next(following)
            first = end + 1
            if end < start or signed[place + 1] < 0:
                raise BadProof("an identifier that is not positive")
            names.append(int(signed[place + 1]))
        bounds.append((start, end, first, _next(following)))
        place = bounds[-1][-1] + 1
    return _checked(signed, bounds, names)


def _next(zeros: Iterator[int]) -> int:
    place = next(zeros, None)
    if place is None:
        raise BadProof("the last step has no 0 at its end: the proof is cut short")
    return place


def _checked(numbers: np.ndarray, bounds: list[tuple[int, int, int, int]], names: list[int]) -> LratProof:
    """Return the proof, after the checks that both forms share."""
    cut, named = np.array(bounds, dtype=np.int64).reshape(-1, 4), np.array(names, dtype=np.int64)
    if (np.diff(named[named != 0]) <= 0).any():
        raise BadProof("identifiers of added clauses that do not grow")
    if (
        len(numbers)
        and np.abs(numbers[_within(cut[:, 0], cut[:, 1], len(numbers))]).max(initial=0) > LARGEST_LITERAL
    ):
        raise BadProof("a literal beyond 32 bits")
    deleted = cut[named == 0]
    if len(numbers) and (numbers[_within(deleted[:, 2], deleted[:, 3], len(numbers))] <= 0).any():
        raise BadProof("a deleted identifier that is not positive")
    return LratProof(numbers, cut, named)


def _within(starts: np.ndarray, ends: np.ndarray, size: int) -> np.ndarray:
    """Return which of `size` places are within one of the intervals, which do not overlap: bool (size,)."""
    change = np.zeros(size + 1, dtype=np.int64)
    np.add.at(change, starts, 1)
    np.add.at(change, ends, -1)
    return np.cumsum(change[:-1]) > 0


def write_lrat_text(proof: LratProof) -> bytes:
    """Return the proof as text, one step per line, up to and with its first empty clause, for a checker that
    reads files."""
    lines, last, end = [], 0, proof.first_empty
    for number, (name, literals, hints) in enumerate(proof.steps):
        last = name or last
        words = [max(last, 1), "d", *hints, 0] if not name else [name, *literals, 0, *hints, 0]
        lines.append(" ".join(map(str, words)))
        if number == end:
            break
    return ("\n".join(lines) + "\n" if lines else "").encode()


def write_lrat_binary(proof: LratProof) -> bytes:
    """Return the proof in the binary form, all of it."""
    out = bytearray()
    for name, literals, hints in proof.steps:
        out.append(_ADD if name else _DELETE)
        for number in [*([name, *literals, 0] if name else []), *hints, 0]:
            value = 2 * abs(number) + (number < 0)
            while value > 0x7F:
                out.append(value & 0x7F | 0x80)
                value >>= 7
            out.append(value)
    return bytes(out)


class _Refused(Exception):
    """A step is not accepted. The message is the reason."""


class _Clauses:
    """The clauses that are there, by identifier. An index of literals is made when the first RAT step asks
    for one."""

    def __init__(self, formula: Formula) -> None:
        literals = formula.literals.tolist()
        bounds = enumerate(pairwise(formula.starts.tolist()), start=1)
        self.of = {number: literals[start:end] for number, (start, end) in bounds}
        self._holding: dict[int, set[int]] | None = None

    def add(self, name: int, literals: list[int]) -> None:
        self.of[name] = literals
        if self._holding is not None:
            for literal in literals:
                self._holding[literal].add(name)

    def delete(self, names: Iterable[int]) -> None:
        """Remove clauses. One that is not there already changes nothing, as for other checkers."""
        for name in names:
            literals = self.of.pop(name, None)
            if literals is not None and self._holding is not None:
                for literal in literals:
                    self._holding[literal].discard(name)

    def holding(self, literal: int) -> set[int]:
        """Return the identifiers of the clauses that hold a literal."""
        if self._holding is None:
            self._holding = defaultdict(set)
            for name, literals in self.of.items():
                for each in literals:
                    self._holding[each].add(name)
        return self._holding[literal]


def refute_by_hints(formula: Formula, proof: LratProof) -> tuple[bool, str]:
    """Return whether the proof, up to its first empty clause, refutes the formula; and the reason."""
    clauses, last = _Clauses(formula), formula.clauses
    for number, (name, literals, hints) in enumerate(proof.steps, start=1):
        if not name:
            clauses.delete(hints)
            continue
        try:
            if name <= last:
                raise _Refused("its identifier is taken")
            _accept(clauses, literals, hints)
        except _Refused as error:
            return False, f"step {number} (clause {name}): {error}"
        if not literals:
            return True, f"{number} steps, each by its hints"
        clauses.add(name, literals)
        last = name
    return False, "the proof never derives the empty clause"


def _accept(clauses: _Clauses, literals: Sequence[int], hints: Sequence[int]) -> None:
    """Raise _Refused if the clause is not accepted."""
    true = {-literal for literal in literals}
    if any(literal in true for literal in literals):
        return  # a tautology holds by itself
    opens = [place for place, hint in enumerate(hints) if hint < 0]
    if _conflict(clauses, hints[: opens[0] if opens else None], true):
        return
    if not literals:
        raise _Refused("its hints do not end in a conflict")
    groups = {-hints[place]: hints[place + 1 : end] for place, end in pairwise([*opens, len(hints)])}
    for name in sorted(clauses.holding(-literals[0])):
        _accept_resolvent(clauses, name, -literals[0], groups.get(name), true)


def _accept_resolvent(
    clauses: _Clauses, name: int, negated: int, hints: Sequence[int] | None, true: set[int]
) -> None:
    others = {literal for literal in clauses.of[name] if literal != negated}
    if any(literal in true or -literal in others for literal in others):
        return
    if hints is None:
        raise _Refused(
            f"its hints do not end in a conflict, and have nothing of clause {name}, which holds {negated}"
        )
    if not _conflict(clauses, hints, true | {-literal for literal in others}):
        raise _Refused(f"the hints of its resolvent with clause {name} do not end in a conflict")


def _conflict(clauses: _Clauses, hints: Sequence[int], true: set[int]) -> bool:
    """Make true what the hints make unit. Return whether they end in a conflict; raise _Refused for a hint
    that is of no use."""
    for hint in hints:
        clause = clauses.of.get(hint)
        if clause is None:
            raise _Refused(f"its hint {hint} names no clause that is there")
        unit = 0
        for literal in clause:
            if -literal not in true and literal != unit:
                if unit:
                    raise _Refused(f"the clause {hint} of its hints is neither unit nor false")
                unit = literal
        if not unit:
            return True
        true.add(unit)
    return False


OTHERS = {
    b"o ": "FRAT",
    b"pseudo-Boolean proof": "VeriPB",
    b"p cnf": "a DIMACS formula",
    b"s ": "a solver's output",
}
"""How files of other formats begin that are given as proofs by mistake."""


def read_any(data: bytes, declared: ProofSpelling = "auto", name: str = "") -> Proof | LratProof:
    """Return the proof that unpacked data spell; name: of its file. Raises BadProof, with the reason why it
    cannot be read."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return _read(data, declared, name)
    except BadProof as error:
        other = next((kind for start, kind in OTHERS.items() if data.startswith(start)), "")
        if other:
            raise OtherFormat(f"it looks like {other}: {error}") from None
        raise


def _read(data: bytes, declared: ProofSpelling, name: str) -> Proof | LratProof:
    if declared == "auto" and PurePath(without_packing(name)).suffix == ".lrat":
        declared = "lrat-binary" if is_binary(data) else "lrat-text"
    if declared == "lrat-text":
        return read_lrat_text(data)
    if declared == "lrat-binary":
        return _not_drat(data)
    if declared == "auto" and not is_binary(data) and has_lrat_shape(data):
        return read_lrat_text(data)
    try:
        proof = read_proof(data, declared)
    except BadProof as error:
        if declared == "auto" and (lrat := _as_lrat(data, error)):
            return lrat
        raise
    if declared == "drat-text" and proof.first_empty is None and has_lrat_shape(data):
        raise OtherFormat("it is LRAT, and its declared format is DRAT text")
    return proof


def _not_drat(data: bytes) -> LratProof:
    """Return the LRAT proof that binary data spell. Raises BadProof, also for a whole proof of binary DRAT:
    its steps may pass for those of LRAT."""
    proof = read_lrat_binary(data)
    try:
        drat = read_proof(data, "drat-binary")
    except BadProof:
        return proof
    if drat.first_empty is not None:
        raise OtherFormat("it is DRAT, and its declared format is binary LRAT")
    return proof


def _as_lrat(data: bytes, error: BadProof) -> LratProof | None:
    """Return the LRAT proof that data spell which are no DRAT; None if they do not begin as LRAT. Raises
    BadProof."""
    if is_binary(data):
        try:
            return read_lrat_binary(data)
        except BadProof:
            raise error from None
    return read_lrat_text(data) if begins_as_lrat(data) else None


def without_packing(name: str) -> str:
    """Return a file's name without the ending of a packing."""
    return name[: -len(PurePath(name).suffix)] if PurePath(name).suffix in ENDINGS else name
