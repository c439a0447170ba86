"""Formulas from circuits, by Tseitin's encoding: multiplication run backwards, and a small add-rotate-xor mixing function run backwards."""

from __future__ import annotations

import itertools

import numpy as np

from evolake.solvers.formula.cnf import Formula, formula_of


class Circuit:
    """Gates as clauses. A wire is a literal; the constants are the literal of a variable that a unit clause sets."""

    def __init__(self) -> None:
        self.clauses: list[list[int]] = []
        self.variables = 0
        self.true = self.wire()
        self.clauses.append([self.true])

    def wire(self) -> int:
        """A new free wire."""
        self.variables += 1
        return self.variables

    def wires(self, count: int) -> list[int]:
        """New free wires, least significant first."""
        return [self.wire() for _ in range(count)]

    def both(self, a: int, b: int) -> int:
        """a and b."""
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
        """Sum modulo 2**len(a) by a ripple of full adders."""
        carry, total = -self.true, []
        for x, y in zip(a, b, strict=True):
            total.append(self.parity(x, y, carry))
            carry = self.majority(x, y, carry)
        return total

    def fix(self, wires: list[int], value: int) -> None:
        """Sets wires to the bits of a number, least significant first."""
        self.clauses += [[wire if value >> place & 1 else -wire] for place, wire in enumerate(wires)]

    def formula(self) -> Formula:
        """All clauses so far."""
        return formula_of(self.variables, self.clauses)


def multiplier(bits_a: int, bits_b: int, product: int) -> Formula:
    """Factor `product`: an array multiplier of bits_a x bits_b, its output fixed. Both factors are odd and greater than 1."""
    circuit = Circuit()
    a, b = circuit.wires(bits_a), circuit.wires(bits_b)
    width = bits_a + bits_b
    if product >= 1 << width:
        raise ValueError(f"{product} has more than {width} bits")
    total = [-circuit.true] * width
    for place, bit in enumerate(b):
        row = [-circuit.true] * place + [circuit.both(bit, other) for other in a]
        total = circuit.add(total, row + [-circuit.true] * (width - len(row)))
    circuit.fix(total, product)
    circuit.clauses += [[a[0]], [b[0]], a[1:], b[1:]]
    return circuit.formula()


QUARTER_ROUND = ((0, 1, 3), (2, 3, 1), (0, 1, 3), (2, 3, 1))
ROTATIONS_OF_32 = (16, 12, 8, 7)


def arx_preimage(width: int, rounds: int, known: int, seed: int) -> Formula:
    """Find an input of an add-rotate-xor mixer with a given output; `known` bits of a hidden input are given. Satisfiable by construction.

    The state is four words of `width` bits; a round is the quarter round of ChaCha (Bernstein 2008) with rotations scaled to the width. The input
    is added to the output, as in a stream cipher's block, so that a round cannot be undone.
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
    """What the mixer makes of four words of `width` bits."""
    mask = (1 << width) - 1
    state = list(words)
    for _ in range(rounds):
        for (total, term, mixed), share in zip(QUARTER_ROUND, ROTATIONS_OF_32, strict=True):
            rotation = max(1, width * share // 32)
            state[total] = state[total] + state[term] & mask
            value = state[mixed] ^ state[total]
            state[mixed] = (value << rotation | value >> width - rotation) & mask
    return [out + word & mask for out, word in zip(state, words, strict=True)]
