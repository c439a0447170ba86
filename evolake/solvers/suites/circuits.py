"""Formulas from circuits, by Tseitin's encoding: multiplication run backwards, and a small add-rotate-xor
mixing function run backwards."""

from __future__ import annotations

import itertools

import numpy as np

from evolake.solvers.formula.cnf import Formula, formula_of


class Circuit:
    """Gates as clauses. A wire is a literal; the constants are the literal of a variable that a unit clause
    sets."""

    def __init__(self) -> None:
        self.clauses: list[list[int]] = []
        self.variables = 0
        self.true = self.wire()
        self.clauses.append([self.true])

    def wire(self) -> int:
        """Return a new free wire."""
        self.variables += 1
        return self.variables

    def wires(self, count: int) -> list[int]:
        """Return new free wires, least significant first."""
        return [self.wire() for _ in range(count)]

    def both(self, a: int, b: int) -> int:
        """Return a wire for a and b."""
        if -self.true in (a, b):
            return -self.true
        out = self.wire()
        self.clauses += [[-out, a], [-out, b], [out, -a, -b]]
        return out

    def parity(self, *inputs: int) -> int:
        """Exclusive or of two or three wires."""
        out = self.wire()
        literals = [*inputs, out]
        for signs in itertools.product((1, -1), repeat=len(literals)):
            if signs.count(-1) % 2:
                self.clauses.append([sign * literal for sign, literal in zip(signs, literals, strict=True)])
        return out

    def majority(self, a: int, b: int, c: int) -> int:
        """At least two of three wires."""
        out = self.wire()
        for x, y in itertools.combinations((a, b, c), 2):
            self.clauses += [[-x, -y, out], [x, y, -out]]
        return out

    def add(self, a: list[int], b: list[int]) -> list[int]:
        """Return sum modulo 2**len(a) by a ripple of full adders."""
        carry, total = -self.true, []
        for x, y in zip(a, b, strict=True):
            total.append(self.parity(x, y, carry))
            carry = self.majority(x, y, carry)
        return total

    def fix(self, wires: list[int], value: int) -> None:
        """Set wires to the bits of a number, least significant first."""
        self.clauses += [[wire if value >> place & 1 else -wire] for place, wire in enumerate(wires)]

    def formula(self) -> Formula:
        """Return all clauses so far."""
        return formula_of(self.variables, self.clauses)


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
