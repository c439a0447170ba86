"""Circuits as clauses, by Tseitin's encoding."""

from __future__ import annotations

import itertools

from evolake.reading.formula import Formula, formula_of


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

    def choose(self, condition: int, a: int, b: int) -> int:
        """Return a wire for a if the condition is true, else b."""
        return -self.both(-self.both(condition, a), -self.both(-condition, b))

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
