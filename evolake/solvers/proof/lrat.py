"""Read an LRAT proof strictly, text or binary, before any checker sees it.

LRAT (Cruz-Filipe, Heule, Hunt, Kaufmann, Schneider-Kamp, CADE 2017) is DRAT with identifiers and hints, so
that checking needs no search. A formula's clauses have the identifiers 1 to m in the order of the file; each
step is one of

    ID LITERALS 0 HINTS 0      adds a clause; hints are identifiers of clauses, in the order in which they
                               become unit; a negative one opens the hints of one resolvent of a RAT step
    ID d IDENTIFIERS 0         deletes clauses

The binary form is `a`, ID, literals, 0, hints, 0 and `d`, identifiers, 0, each number n as 2 * |n| + sign in
groups of seven bits, as CaDiCaL 1.9.5 writes it.

Required: the identifiers of added clauses grow; literals are within 32 bits; every step is whole, and in a
text on its own line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evolake.solvers.proof.parse import BadProof, binary_numbers

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
