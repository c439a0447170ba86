"""Generators of formulas, by name: what a suite's spec calls with its parameters. Those made here are
circuits by Tseitin's encoding (multiplication, and a small add-rotate-xor mixing function, run backwards),
and small formulas at the edges of what a DIMACS reader and a solver must accept, given byte by byte.

Random ones draw from PCG64 seeded by the spec's own seed, so that a spec names the same bytes on every
machine; the suite's lock holds their sha256, and a generator that came to give other bytes is found out
there, not in a benchmark.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evolake.errors import InputError
from evolake.reading.formula import Formula, formula_of
from evolake.solvers.suites.circuits import Circuit
from evolake.solvers.suites.combinatorial import (
    coloring,
    contradictory_counts,
    even_coloring,
    quasigroup_with_holes,
    tseitin,
    xor_system,
)
from evolake.solvers.suites.transitions import reachable, sliding_puzzle


def multiplier(bits_a: int, bits_b: int, product: int) -> Formula:
    """Return factor `product`: an array multiplier of bits_a x bits_b, its output fixed. Both factors are odd
    and greater than 1."""
    circuit = Circuit()
    a, b = circuit.wires(bits_a), circuit.wires(bits_b)
    if product >= 1 << bits_a + bits_b:
        raise ValueError(f"{product} has more than {bits_a + bits_b} bits")
    circuit.fix(_product(circuit, a, b), product)
    circuit.clauses += [[a[0]], [b[0]], a[1:], b[1:]]
    return circuit.formula()


QUARTER_ROUND = ((0, 1, 3), (2, 3, 1), (0, 1, 3), (2, 3, 1))
ROTATIONS_OF_32 = (16, 12, 8, 7)


def arx_preimage(width: int, rounds: int, known: int, seed: int) -> Formula:
    """Find an input of an add-rotate-xor mixer with a given output; `known` bits of a hidden input are given.
    Satisfiable by construction.

    The state is four words of `width` bits; a round is the quarter round of ChaCha (Bernstein 2008) with
    rotations scaled to the width. The input is added to the output, as in a stream cipher's block, so that a
    round cannot be undone.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    hidden = [int(rng.integers(1 << width)) for _ in range(4)]
    rotations = [max(1, width * share // 32) for share in ROTATIONS_OF_32]
    circuit = Circuit()
    words = [circuit.wires(width) for _ in range(4)]
    state = [list(word) for word in words]
    for _ in range(rounds):
        for (total, term, mixed), rotation in zip(QUARTER_ROUND, rotations, strict=True):
            state[total] = circuit.add(state[total], state[term])
            bits = [circuit.parity(x, y) for x, y in zip(state[mixed], state[total], strict=True)]
            state[mixed] = bits[-rotation:] + bits[:-rotation]
    for word, out, value in zip(words, state, mix(hidden, width, rounds), strict=True):
        circuit.fix(circuit.add(out, word), value)
    for place in rng.permutation(4 * width)[:known].tolist():
        word, bit = divmod(place, width)
        circuit.fix([words[word][bit]], hidden[word] >> bit)
    return circuit.formula()


def mix(words: list[int], width: int, rounds: int) -> list[int]:
    """Return what the mixer makes of four words of `width` bits."""
    mask = (1 << width) - 1
    state = list(words)
    for _ in range(rounds):
        for (total, term, mixed), share in zip(QUARTER_ROUND, ROTATIONS_OF_32, strict=True):
            rotation = max(1, width * share // 32)
            state[total] = state[total] + state[term] & mask
            value = state[mixed] ^ state[total]
            state[mixed] = (value << rotation | value >> width - rotation) & mask
    return [out + word & mask for out, word in zip(state, words, strict=True)]


def miter(bits: int, known: int, seed: int) -> Formula:
    """Return two array multipliers of bits x bits with their factors exchanged, and a difference of their
    products: unsatisfiable, as a b = b a.

    known: so many bits of the factors, drawn at random, have a drawn value, which makes the formula easier
    bit by bit.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    circuit = Circuit()
    a, b = circuit.wires(bits), circuit.wires(bits)
    differs = [
        circuit.parity(x, y) for x, y in zip(_product(circuit, a, b), _product(circuit, b, a), strict=True)
    ]
    circuit.clauses.append(differs)
    for place in rng.permutation(2 * bits)[:known].tolist():
        circuit.fix([[*a, *b][place]], int(rng.integers(2)))
    return circuit.formula()


def _product(circuit: Circuit, a: list[int], b: list[int]) -> list[int]:
    width = len(a) + len(b)
    total = [-circuit.true] * width
    for place, bit in enumerate(b):
        row = [-circuit.true] * place + [circuit.both(bit, other) for other in a]
        total = circuit.add(total, row + [-circuit.true] * (width - len(row)))
    return total


FILTER_INPUTS = 5


def filter_state(length: int, outputs: int, known: int, seed: int) -> Formula:
    """Find a state of a filter generator from its output: a linear register of `length` bits with four drawn
    taps, of which a drawn quadratic function of five places, a b + c d + e, is put out (nonlinear filters:
    Rueppel 1986). Satisfiable by construction; `known` bits are given.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    taps = [0, *sorted((rng.permutation(length - 1)[:3] + 1).tolist())]
    places = rng.permutation(length)[:FILTER_INPUTS].tolist()
    hidden = rng.integers(2, size=length).tolist()
    circuit = Circuit()
    start = circuit.wires(length)
    wires, values = list(start), list(hidden)
    for _ in range(outputs):
        a, b, c, d, e = (wires[place] for place in places)
        out = circuit.parity(circuit.both(a, b), circuit.both(c, d), e)
        a, b, c, d, e = (values[place] for place in places)
        circuit.fix([out], a & b ^ c & d ^ e)
        first = circuit.parity(wires[taps[0]], wires[taps[1]])
        wires = [*wires[1:], circuit.parity(first, wires[taps[2]], wires[taps[3]])]
        values = [*values[1:], sum(values[tap] for tap in taps) % 2]
    for place in rng.permutation(length)[:known].tolist():
        circuit.fix([start[place]], hidden[place])
    return circuit.formula()


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


def pcg(seed: int) -> np.random.Generator:
    """Return the generator that `seed` names."""
    return np.random.Generator(np.random.PCG64(seed))


def random_ksat(n: int, m: int, k: int, seed: int) -> Formula:
    """Return uniform random k-SAT: m clauses of k distinct variables of 1..n, each literal negated by a fair
    coin."""
    rng = pcg(seed)
    variables = _distinct_rows(rng, n, m, k)
    signs = 2 * rng.integers(2, size=(m, k)) - 1
    return formula_of(n, (variables * signs).tolist())


def planted_ksat(n: int, m: int, k: int, seed: int) -> Formula:
    """Return random k-SAT with a hidden assignment: clauses that it falsifies are drawn again."""
    rng = pcg(seed)
    hidden = np.concatenate([[0], 2 * rng.integers(2, size=n) - 1])
    variables = _distinct_rows(rng, n, m, k)
    signs = 2 * rng.integers(2, size=(m, k)) - 1
    while len(bad := np.flatnonzero((signs != hidden[variables]).all(axis=1))):
        signs[bad] = 2 * rng.integers(2, size=(len(bad), k)) - 1
    return formula_of(n, (variables * signs).tolist())


def from_cnfgen(args: str) -> Formula:
    """Return a family of the package cnfgen, called as its command would be; only families that draw nothing
    at random are used."""
    from cnfgen.clitools.cnfgen import cli

    formula: Any = cli(["cnfgen", "-q", *args.split()], mode="formula")
    return formula_of(formula.number_of_variables(), [list(clause) for clause in formula])


def _distinct_rows(rng: np.random.Generator, n: int, m: int, k: int) -> np.ndarray:
    """(m, k) ints of 1..n, distinct in a row; rows with a repetition are drawn again."""
    rows = rng.integers(1, n + 1, size=(m, k))
    while len(bad := np.flatnonzero((np.diff(np.sort(rows, axis=1), axis=1) == 0).any(axis=1))):
        rows[bad] = rng.integers(1, n + 1, size=(len(bad), k))
    return rows


GENERATORS: dict[str, Callable[..., Formula | bytes]] = {
    "rksat": random_ksat,
    "planted": planted_ksat,
    "cnfgen": from_cnfgen,
    "tseitin": tseitin,
    "coloring": coloring,
    "qgh": quasigroup_with_holes,
    "mult": multiplier,
    "arx": arx_preimage,
    "corner": corner_case,
    "xor": xor_system,
    "even": even_coloring,
    "counts": contradictory_counts,
    "miter": miter,
    "filter": filter_state,
    "reach": reachable,
    "sliding": sliding_puzzle,
}


def generate(generator: str, parameters: Mapping[str, Any]) -> Formula | bytes:
    """Return the formula (for the generator `corner`: its raw text, whose layout is the point) that a spec's
    entry asks for.

    Raises:
        InputError: no such generator, or parameters that it does not take.
    """
    if generator not in GENERATORS:
        raise InputError(
            f"there is no generator {generator!r}",
            wanted=f"one of {', '.join(GENERATORS)}",
            do="correct the suite's spec",
        )
    try:
        return GENERATORS[generator](**parameters)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the generator {generator!r} cannot use {dict(parameters)}",
            got=str(error),
            do="correct the suite's spec",
        ) from None
