"""Read a DRAT proof strictly, text or binary, before any checker sees it.

Checkers are lenient in ways that a solver's mistake, or its author's cunning, can use: drat-trim says
VERIFIED of a proof with junk such as `1 2 foo 0`, and of one without the empty clause at its end. So the
proof is read here to its last byte; a checker then gets what was read, written again, and nothing else. Which
format a file without a declared one has need not be known for sure: a refutation that checks is one, however
it was spelled.

Required: every step ends with 0; literals are non-zero and within 32 bits; `d` only opens a step, and never
deletes the empty clause; the empty clause is among the additions, unless the formula itself holds it.
Variables beyond the formula's are allowed (extension variables of RAT steps).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

ProofSpelling = Literal["auto", "drat-text", "drat-binary", "lrat-text", "lrat-binary"]
_DELETION = 1 << 40
"""Stands for `d` among the numbers; longer than any that is let through."""
_COMMENT = re.compile(rb"(?m)^c[^\n]*$")
_JUNK = re.compile(rb"[^0-9 \t\r\nd-]|-(?![1-9])|[0-9]-|[0-9]{11}|(?<![0-9])0[0-9]|[0-9d-]d|d[^ \t]|d\Z")
_TEXT = bytes(range(0x20, 0x7F)) + b"\t\r\n"
LONGEST_LITERAL = 5
"""Bytes of a literal in the binary format: 32 bits and the sign, seven a byte."""


class BadProof(ValueError):
    """The bytes are not a proof. The message is the reason of the refusal."""


class OtherFormat(BadProof):
    """The bytes are of another format than the one that they are read as."""


@dataclass(frozen=True)
class Proof:
    """Steps in order. literals: int32 (L,). starts: int64 (s + 1,); step i is literals[starts[i]:starts[i +
    1]]. deletion: bool (s,)."""

    literals: np.ndarray
    starts: np.ndarray
    deletion: np.ndarray

    @property
    def steps(self) -> int:
        """Return the number of steps."""
        return len(self.deletion)

    @property
    def first_empty(self) -> int | None:
        """The step that adds the empty clause; None when there is none."""
        result = np.flatnonzero((np.diff(self.starts) == 0) & ~self.deletion)
        return int(result[0]) if len(result) else None


def is_binary(data: bytes) -> bool:
    """Return whether a proof whose format is not declared is binary: it begins with `a`, has bytes that no
    text has, or a `d` that opens no step."""
    return (
        data.startswith(b"a")
        or bool(data.translate(None, _TEXT))
        or (data.startswith(b"d") and bool(_JUNK.search(data)))
    )


def read_proof(data: bytes, spelling: ProofSpelling = "auto") -> Proof:
    """Return the DRAT proof that `data` spells. Raises BadProof."""
    if spelling == "auto":
        spelling = "drat-binary" if is_binary(data) else "drat-text"
    proof = _read_text(data) if spelling == "drat-text" else _read_binary(data)
    if (np.diff(proof.starts)[proof.deletion] == 0).any():
        raise BadProof("a step deletes the empty clause")
    return proof


def _read_text(data: bytes) -> Proof:
    if b"c" in data:
        data = _COMMENT.sub(b"", data)
    if junk := _JUNK.search(data):
        place = data[max(0, junk.start() - 15) : junk.end() + 15].decode("ascii", "replace")
        raise BadProof(f"something that is no literal near {place!r}")
    data = data.replace(b"d", b" %d" % _DELETION)
    numbers = np.fromstring(data, dtype=np.int64, sep=" ") if data.strip() else np.zeros(0, dtype=np.int64)
    marks = np.flatnonzero(numbers == _DELETION)
    if (numbers[marks[marks > 0] - 1] != 0).any():
        raise BadProof("a `d` inside a step")
    return _assemble(numbers[numbers != _DELETION], np.cumsum(numbers == 0), marks)


def _assemble(numbers: np.ndarray, ended: np.ndarray, marks: np.ndarray) -> Proof:
    """numbers: literals and the 0 of each step. ended: steps ended up to each token. marks: tokens that open
    a deletion."""
    if len(numbers) and numbers[-1] != 0:
        raise BadProof("the last step has no 0 at its end: the proof is cut short")
    if len(numbers) and np.abs(numbers).max() > 2**31 - 1:
        raise BadProof("a literal beyond 32 bits")
    ends = np.flatnonzero(numbers == 0)
    if len(marks) and ended[marks[-1]] == len(ends):
        raise BadProof("a deletion without its step: the proof is cut short")
    deletion = np.zeros(len(ends), dtype=bool)
    deletion[ended[marks]] = True
    starts = np.zeros(len(ends) + 1, dtype=np.int64)
    starts[1:] = ends - np.arange(len(ends))
    return Proof(numbers[numbers != 0].astype(np.int32), starts, deletion)


def binary_numbers(data: bytes, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a binary proof, and how many bytes each takes: groups of seven bits, lowest
    first, high bit set on all but the last.

    longest: bytes of the longest number. Raises BadProof.
    """
    raw = np.frombuffer(data, dtype=np.uint8)
    if not len(raw):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    last = np.flatnonzero(raw < 0x80)
    if not len(last) or last[-1] != len(raw) - 1:
        raise BadProof("the last number has no end: the proof is cut short")
    first = np.concatenate([[0], last[:-1] + 1])
    length = last - first + 1
    if (length > longest).any():
        raise BadProof(
            "a literal beyond 32 bits" if longest == LONGEST_LITERAL else "a number beyond 63 bits"
        )
    place = np.arange(len(raw)) - np.repeat(first, length)
    value = np.add.reduceat((raw & 0x7F).astype(np.int64) << (7 * place), first)
    if ((length > 1) & (raw[last] == 0)).any():
        raise BadProof("a number with needless bytes")
    return value, length


def _read_binary(data: bytes) -> Proof:
    """Each step is `a` or `d`, literals as 2 * variable + sign, and 0."""
    value, length = binary_numbers(data, LONGEST_LITERAL)
    if not len(value):
        return _assemble(value, value, value)
    opens = np.concatenate([[True], value[:-1] == 0])
    if not np.isin(value[opens], (0x61, 0x64)).all() or (length[opens] > 1).any():
        raise BadProof("a step that begins with neither `a` nor `d`")
    if (value[~opens] == 1).any():
        raise BadProof("a negated 0")
    if opens[-1]:
        raise BadProof("a step without literals or end: the proof is cut short")
    literals = np.where(value & 1, -(value >> 1), value >> 1)
    ended = np.cumsum(~opens & (value == 0))
    return _assemble(literals[~opens], ended, np.flatnonzero(opens & (value == 0x64)))


def with_close_names(proof: Proof, variables: int) -> Proof:
    """Return the proof with its extension variables (those above `variables`) renamed to the next free
    numbers, so that no checker allocates by a name.
    """
    names, index = np.unique(np.abs(proof.literals), return_inverse=True)
    new = names.astype(np.int64)
    extension = names > variables
    new[extension] = variables + 1 + np.arange(extension.sum())
    return Proof((np.sign(proof.literals) * new[index]).astype(np.int32), proof.starts, proof.deletion)


def write_text(proof: Proof) -> bytes:
    """Return the proof as text, one step per line, up to and with its first empty clause."""
    last = proof.first_empty
    lines = []
    literals, starts = proof.literals.tolist(), proof.starts.tolist()
    for step in range(proof.steps if last is None else last + 1):
        head = "d " if proof.deletion[step] else ""
        lines.append(head + " ".join(map(str, [*literals[starts[step] : starts[step + 1]], 0])))
    return ("\n".join(lines) + "\n" if lines else "").encode()


def write_binary(proof: Proof) -> bytes:
    """Return the proof in the binary format, all of it."""
    out = bytearray()
    literals, starts = proof.literals.tolist(), proof.starts.tolist()
    for step in range(proof.steps):
        out.append(0x64 if proof.deletion[step] else 0x61)
        for literal in literals[starts[step] : starts[step + 1]]:
            value = 2 * abs(literal) + (literal < 0)
            while value > 0x7F:
                out.append(value & 0x7F | 0x80)
                value >>= 7
            out.append(value)
        out.append(0)
    return bytes(out)
