"""Small formulas at the edges of what a DIMACS reader and a solver must accept: their text is the point, so
each is given byte by byte."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from evolake.errors import InputError


def _text(variables: int, clauses: list[list[int]], *, end: str = "\n") -> str:
    lines = [f"p cnf {variables} {len(clauses)}", *(" ".join(map(str, [*clause, 0])) for clause in clauses)]
    return "\n".join(lines) + end


def _all_signs(variables: list[int]) -> list[list[int]]:
    return [
        [sign * variable for sign, variable in zip(signs, variables, strict=True)]
        for signs in itertools.product((1, -1), repeat=len(variables))
    ]


def _chain(length: int) -> list[list[int]]:
    return [[1], *([-i, i + 1] for i in range(1, length))]


def _parity_chain(length: int, last: int) -> list[list[int]]:
    clauses = [[1, 2], [-1, -2]]
    for i in range(2, length):
        clauses += [[i, i + 1], [-i, -i - 1]]
    return [*clauses, [1], [last]]


CASES: dict[str, tuple[str, Callable[[], str]]] = {
    "nothing": ("SAT", lambda: "p cnf 0 0\n"),
    "no-clauses": ("SAT", lambda: "p cnf 5 0\n"),
    "no-clauses-many-variables": ("SAT", lambda: "p cnf 20000 0\n"),
    "empty-clause-alone": ("UNSAT", lambda: "p cnf 1 1\n0\n"),
    "empty-clause-first": ("UNSAT", lambda: "p cnf 3 3\n0\n1 2 0\n-3 0\n"),
    "empty-clause-last": ("UNSAT", lambda: "p cnf 3 3\n1 2 0\n-3 0\n0\n"),
    "unit": ("SAT", lambda: "p cnf 1 1\n1 0\n"),
    "unit-negative": ("SAT", lambda: "p cnf 1 1\n-1 0\n"),
    "units-only": ("SAT", lambda: _text(6, [[1], [-2], [3], [-4], [5], [-6]])),
    "units-repeated": ("SAT", lambda: _text(2, [[1], [1], [-2], [-2], [1]])),
    "units-contradict": ("UNSAT", lambda: "p cnf 1 2\n1 0\n-1 0\n"),
    "units-contradict-late": ("UNSAT", lambda: _text(4, [[4], [1, 2], [-4], [3, -1]])),
    "literal-twice": ("SAT", lambda: _text(3, [[1, 1, 2], [-1, -1, -1], [3, -2, 3]])),
    "literal-twice-unsat": ("UNSAT", lambda: _text(2, [[1, 1], [-1, 2, 2], [-2, -2, -1]])),
    "tautology": ("SAT", lambda: _text(2, [[1, -1], [2, 1, -2]])),
    "tautology-among-others": ("UNSAT", lambda: _text(2, [[1, -1, 2], [2], [-2, 1], [-1, -2]])),
    "clause-repeated": (
        "UNSAT",
        lambda: _text(2, [[1, 2], [2, 1], [1, 2], [-1, 2], [1, -2], [-1, -2], [-2, -1]]),
    ),
    "clause-subsumed": ("SAT", lambda: _text(4, [[1, 2, 3, 4], [1, 2], [1, 2, 3], [-1, -2], [-3, 4]])),
    "variable-unused": ("SAT", lambda: _text(50, [[7, -13], [-7, 13], [50]])),
    "variable-large": ("SAT", lambda: _text(200_000, [[200_000, -1], [-200_000, 1], [1, 99_999]])),
    "variable-large-unsat": ("UNSAT", lambda: _text(200_000, [[200_000], [-200_000, 123_456], [-123_456]])),
    "no-newline-at-end": ("SAT", lambda: _text(2, [[1, 2], [-1, -2]], end="")),
    "no-newline-at-end-unsat": ("UNSAT", lambda: _text(1, [[1], [-1]], end="")),
    "comments": ("SAT", lambda: "c first\nc p cnf 9 9\np cnf 2 2\nc between 1 2 0\n1 -2 0\nc\n2 0\nc last\n"),
    "clauses-on-one-line": ("SAT", lambda: "p cnf 3 3\n1 2 0 -1 3 0 -2 -3 0\n"),
    "clause-over-lines": ("SAT", lambda: "p cnf 4 2\n1\n2 3\n\n4 0 -1\n-2 0\n"),
    "blanks-and-tabs": ("SAT", lambda: "p cnf 2 2\n  1\t-2   0  \n\t2  0\n"),
    "carriage-returns": ("SAT", lambda: "p cnf 2 2\r\n1 -2 0\r\n2 0\r\n"),
    "header-spaced": ("SAT", lambda: "p cnf   2    1\n1 2 0\n"),
    "clause-long": ("SAT", lambda: _text(3000, [[(-1) ** i * i for i in range(1, 3001)]])),
    "clause-long-all-false": (
        "UNSAT",
        lambda: _text(400, [list(range(1, 401)), *([-i] for i in range(1, 401))]),
    ),
    "propagation-chain": ("SAT", lambda: _text(5000, _chain(5000))),
    "propagation-chain-unsat": ("UNSAT", lambda: _text(5000, [*_chain(5000), [-5000]])),
    "all-signs-3": ("UNSAT", lambda: _text(3, _all_signs([1, 2, 3]))),
    "all-signs-3-but-one": ("SAT", lambda: _text(3, _all_signs([1, 2, 3])[:-1])),
    "all-signs-7": ("UNSAT", lambda: _text(7, _all_signs([1, 2, 3, 4, 5, 6, 7]))),
    "parity-chain": ("SAT", lambda: _text(300, _parity_chain(300, -300))),
    "parity-chain-unsat": ("UNSAT", lambda: _text(300, _parity_chain(300, 300))),
    "pure-literals": ("SAT", lambda: _text(60, [[i, i % 60 + 1, (i * 7) % 60 + 1] for i in range(1, 61)])),
    "equivalences-in-a-ring": ("SAT", lambda: _text(40, [[-i, i % 40 + 1] for i in range(1, 41)])),
}


def corner_case(name: str) -> bytes:
    """Return the bytes of a corner case; its status is in CASES. Raises InputError for a name that is
    none."""
    if name not in CASES:
        raise InputError(f"there is no corner case {name!r}", wanted=f"one of {', '.join(CASES)}")
    return CASES[name][1]().encode()
