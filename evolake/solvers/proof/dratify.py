"""Check a proof with the package dratify: its Rust engine from cdclkit-native, or its independent engine in
Python.

Both engines check forward, every step. First without RAT steps and with all deletions, which is sound and is
what almost every solver writes; then, if that fails, with RAT steps and only with deletions that are safe
next to them (see `backed`). Called in its own process (`worker`): an engine reads data that an adversary
wrote.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from evolake.solvers.formula.cnf import Formula
from evolake.solvers.proof.backed import backed_steps
from evolake.solvers.proof.parse import Proof

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
