"""Read a DRAT proof strictly, text or binary, before any checker sees it, and check it with the package
dratify: its Rust engine from cdclkit-native, or its independent engine in Python.

Checkers are lenient in ways that a solver's mistake, or its author's cunning, can use: drat-trim says
VERIFIED of a proof with junk such as `1 2 foo 0`, and of one without the empty clause at its end. So the
proof is read here to its last byte; a checker then gets what was read, written again, and nothing else. The
format of a file without a declared one need not be known for sure: a refutation that checks is one, however
it was spelled. Required: every step ends with 0; literals are non-zero and within 32 bits; `d` only opens a
step, and never deletes the empty clause; the empty clause is among the additions, unless the formula itself
holds it. Variables beyond the formula's are allowed (extension variables of RAT steps).

Both engines check forward, every step, in a process of their own (`worker`). First without RAT steps and with
all deletions, which is sound and is what almost every solver writes; then, if that fails, with RAT steps and
only with deletions that are safe next to them (`backed_steps`). For dratify keeps the literals that unit
propagation has fixed, whether or not the clause that forced them is later deleted. For RUP steps that is
sound: such a literal follows from the formula all the same. For RAT it is not. Of the satisfiable formula
(a), (not a or b) it accepts this refutation:

    d -a b 0      b stays fixed, yet no clause holds it any more
    -b 0          vacuously RAT on its literal
    0             conflicts with the fixed b

drat-trim ignores such deletions, and so do we: a deletion is dropped when its clause holds a literal that
unit propagation could have fixed by then with nothing deleted at all. That keeps every reason, so each fixed
literal is backed by clauses that the RAT check looks at. Clauses that stay only make a RAT step harder. Once
propagation alone could reach a conflict, everything stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evolake.reading.formula import Formula

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


class RootPropagation:
    """What unit propagation fixes in a growing set of clauses. Literals: 2 * variable + sign, from 0."""

    def __init__(self, variables: int) -> None:
        self.true = bytearray(2 * variables)
        self.conflict = False
        self._watchers: list[list[list[int]]] = [[] for _ in range(2 * variables)]

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause without repeated literals and propagate."""
        if self.conflict:
            return
        true = self.true
        free = [literal for literal in clause if not true[literal ^ 1]]
        if not free:
            self.conflict = True
        elif any(true[literal] for literal in free):
            return
        elif len(free) == 1:
            self._fix(free[0])
        else:
            self._watchers[free[0]].append(free)
            self._watchers[free[1]].append(free)

    def _fix(self, literal: int) -> None:
        """Make `literal` true, and what follows. A watched clause holds its two watched literals first."""
        true, queue = self.true, [literal]
        true[literal] = 1
        while queue:
            false = queue.pop() ^ 1
            watching, self._watchers[false] = self._watchers[false], []
            for clause in watching:
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                if true[clause[0]]:
                    continue
                for place in range(2, len(clause)):
                    if not true[clause[place] ^ 1]:
                        clause[1], clause[place] = clause[place], false
                        self._watchers[clause[1]].append(clause)
                        break
                else:
                    if true[clause[0] ^ 1]:
                        self.conflict = True
                        return
                    true[clause[0]] = 1
                    queue.append(clause[0])


def backed_steps(
    variables: int, clauses: Sequence[Sequence[int]], steps: Sequence[tuple[bool, Sequence[int]]]
) -> list[tuple[bool, list[int]]]:
    """Return `steps` (is a deletion, literals) without the deletions that would leave a fixed literal
    unbacked."""
    root = RootPropagation(variables)
    for clause in clauses:
        root.add(clause)
    kept = []
    for deletion, literals in steps:
        if not deletion:
            root.add(literals)
        elif root.conflict or any(root.true[literal] for literal in literals):
            continue
        kept.append((deletion, list(literals)))
    return kept


Engine = Literal["native", "python"]
FIELDS = 10
"""Length of the native engine's answer; another length means another version than this was written for."""
Clauses = list[list[int]]
Steps = list[tuple[bool, list[int]]]


def refute(formula: Formula, proof: Proof, engine: Engine = "native") -> tuple[bool, str]:
    """Return whether the proof, up to its first empty clause, refutes the formula; and the reason.

    Raises ValueError or TypeError when the engine does not take what it is given, MemoryError when it is too
    large.
    """
    if (np.diff(formula.starts) == 0).any():
        return True, "the formula holds the empty clause"
    last = proof.first_empty
    if last is None:
        return False, "the proof never derives the empty clause"
    variables, clauses, steps = _dense(formula, proof, last)
    run = _native if engine == "native" else _python
    ok, reason = run(variables, clauses, steps, check_rat=False)
    if ok:
        return True, f"{last + 1} steps, each by unit propagation"
    ok, reason = run(variables, clauses, backed_steps(variables, clauses, steps), check_rat=True)
    return ok, f"{last + 1} steps, some by resolution asymmetric tautology" if ok else reason


def _dense(formula: Formula, proof: Proof, last: int) -> tuple[int, Clauses, Steps]:
    """Return the problem over variables 0, 1, ... that occur, as 2 * variable + sign; repeated literals and
    tautologies left out, which changes nothing.
    """
    end = int(proof.starts[last + 1])
    both = np.concatenate([formula.literals, proof.literals[:end]])
    names, index = np.unique(np.abs(both), return_inverse=True)
    encoded = (2 * index + (both < 0)).tolist()
    split = len(formula.literals)
    clauses = [clause for clause in _cut(encoded[:split], formula.starts.tolist()) if clause is not None]
    additions = _cut(encoded[split:], proof.starts[: last + 2].tolist())
    steps = [
        (bool(deletion), step)
        for deletion, step in zip(proof.deletion[: last + 1].tolist(), additions, strict=True)
        if step is not None
    ]
    return len(names), clauses, steps


def _cut(literals: list[int], starts: list[int]) -> list[list[int] | None]:
    """Clauses in order, their literals each once and in order (the first is the pivot of a RAT step); None
    for a tautology."""
    cut: list[list[int] | None] = []
    for begin, end in itertools.pairwise(starts):
        clause = literals[begin:end]
        if len(seen := set(clause)) < len(clause):
            clause = list(dict.fromkeys(clause))
        cut.append(None if any(literal ^ 1 in seen for literal in clause) else clause)
    return cut


def _native(variables: int, clauses: Clauses, steps: Steps, *, check_rat: bool) -> tuple[bool, str]:
    import cdclkit_native

    answer: Sequence[Any] = tuple(cdclkit_native.check_proof(variables, clauses, steps, check_rat, True))  # type: ignore[attr-defined]
    if len(answer) != FIELDS or not isinstance(answer[0], bool) or not isinstance(answer[-1], bool):
        raise TypeError(f"cdclkit-native answered in another form: {answer!r:.200}")
    return answer[0] and answer[-1], str(answer[1])


def _python(variables: int, clauses: Clauses, steps: Steps, *, check_rat: bool) -> tuple[bool, str]:
    from dratify import CNF, check_proof

    formula = CNF(variables)
    for clause in clauses:
        formula.add(clause)
    named = [("d" if deletion else "a", tuple(literals)) for deletion, literals in steps]
    result = check_proof(formula, named, check_rat=check_rat, engine="python")
    return result.ok and result.reached_empty, result.reason
