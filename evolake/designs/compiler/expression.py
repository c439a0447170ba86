"""Scalar expressions: what the fused engine turns a graph into before it writes code.

A tensor of one instance is a loop over its variables (domain "N") or clauses ("M"), times a few cells a turn
of the loop (the three literals of a clause). Each cell is an expression; views, slices, repeats and
transposes only rename cells and cost nothing. Equal expressions are one object, and what no output needs is
never written. Domain "S" is a scalar of the instance: a number, or what came out of a reduction.

Numbers are of two kinds. A few (0, 1, 2, 1/2, ...) are literals and part of the code; all others are *slots*,
filled in when the kernel is called, so that designs that differ only in their parameters share one kernel.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Domain = Literal["S", "N", "M"]
Kind = Literal["real", "int", "bool", "variable"]

MOST_EXPRESSIONS = 20_000
DEEPEST_CHOICE = 8
LARGEST_WHOLE = 2**24
"""Whole numbers up to here are exact in every type that a kernel computes in."""
LITERALS = frozenset({0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 4.0})
COMPARISONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


class Inexpressible(Exception):
    """The graph has something that no kernel is generated for; the torch engine runs it."""


@dataclass(frozen=True, eq=False)
class Expression:
    """One scalar a turn. `data` is what the operator needs: a literal's value, a slot's number or size, a
    state's (variable, cell), a reduction."""

    operator: str
    args: tuple[Expression, ...]
    data: Any
    domain: Domain
    kind: Kind
    serial: int
    constant: bool
    """Whether it is made of literals and slots only."""

    def __repr__(self) -> str:
        inside = ", ".join(f"#{arg.serial}" for arg in self.args)
        return f"#{self.serial}={self.operator}({inside}{'' if self.data is None else f'; {self.data}'})"


@dataclass
class Builder:
    """Makes expressions, one object for each distinct one, with the few simplifications that the usual
    designs need."""

    made: dict[Any, Expression] = field(default_factory=dict)

    def make(
        self,
        name: str,
        args: tuple[Expression, ...],
        kind: Kind,
        data: Any = None,
        domain: Domain | None = None,
    ) -> Expression:
        """Return the expression of an operator, the same object for equal arguments."""
        key = (name, tuple(arg.serial for arg in args), type(data).__name__, data, domain, kind)
        if key not in self.made:
            if len(self.made) >= MOST_EXPRESSIONS:
                raise Inexpressible("too many operations to compile")
            where = domain or _common(args)
            constant = (
                where == "S" and name not in ("reduce", "external") and all(arg.constant for arg in args)
            )
            self.made[key] = Expression(name, args, data, where, kind, len(self.made), constant)
        return self.made[key]

    def number(self, value: Any) -> Expression:
        """Return a real number: a literal when it is one of the few, else a slot. Also a size-dependent one
        (Symbol, Power), always a slot."""
        if isinstance(value, bool | int | float):
            value = float(value)
            if value in LITERALS or not math.isfinite(value):
                return self.literal(value)
        return self.make("slot", (), "real", value, "S")

    def literal(self, value: float) -> Expression:
        """Return a constant real."""
        value = float(value)
        data = value if value == value and value != 0.0 else str(value)
        return self.make("literal", (), "real", data, "S")

    def integer(self, value: int) -> Expression:
        """Return a constant whole number. Raises Inexpressible if it is too large for a kernel."""
        if not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
            raise Inexpressible("an integer that is too large for a kernel")
        return self.make("literal", (), "int", int(value), "S")

    def boolean(self, value: bool) -> Expression:
        """Return a constant truth value."""
        return self.make("literal", (), "bool", bool(value), "S")

    def value_of(self, expression: Expression) -> Any:
        """Return the literal's value, or None."""
        if expression.operator != "literal":
            return None
        return float(expression.data) if expression.kind == "real" else expression.data

    def real(self, expression: Expression) -> Expression:
        """Return it as a real number."""
        if expression.kind == "real":
            return expression
        if expression.kind == "variable":
            raise Inexpressible("arithmetic on the indices of variables")
        if expression.kind == "bool":
            return self.select(expression, self.literal(1.0), self.literal(0.0))
        known = self.value_of(expression)
        if known is not None:
            return self.number(float(known))
        if self._is_choice_of_literals(expression):
            return self.select(
                expression.args[0], self.real(expression.args[1]), self.real(expression.args[2])
            )
        return self.make("to_real", (expression,), "real")

    def whole(self, expression: Expression) -> Expression:
        """Return it as an integer; only from a truth value or an integer."""
        if expression.kind == "int":
            return expression
        if expression.kind == "bool":
            return self.select(expression, self.integer(1), self.integer(0))
        known = self.value_of(expression)
        if known is not None and float(known).is_integer():
            return self.integer(int(known))
        raise Inexpressible("a real number cast to an integer")

    def mapped(self, expression: Expression, function: Callable[[int], int]) -> Expression:
        """Return a function of an integer that is a choice between literals."""
        if not self._is_choice_of_literals(expression) or expression.kind != "int":
            raise Inexpressible("arithmetic on integers")
        if expression.operator == "literal":
            return self.integer(function(expression.data))
        return self.select(
            expression.args[0],
            self.mapped(expression.args[1], function),
            self.mapped(expression.args[2], function),
        )

    def rounded(self, expression: Expression) -> Expression:
        """Return a real number that is known to be whole, as an integer."""
        return self.make("to_whole", (expression,), "int")

    def truth(self, expression: Expression) -> Expression:
        """Return it as a truth value: not zero."""
        if expression.kind == "bool":
            return expression
        return self.compare(
            "ne", expression, self.integer(0) if expression.kind == "int" else self.literal(0.0)
        )

    def compare(self, name: str, left: Expression, right: Expression) -> Expression:
        """lt, le, gt, ge, eq, ne. A comparison of a choice between literals with a literal becomes the choice
        itself."""
        if "variable" in (left.kind, right.kind):
            raise Inexpressible("a comparison of the indices of variables")
        if "real" in (left.kind, right.kind):
            left, right = self.real(left), self.real(right)
        else:
            left, right = self.whole(left), self.whole(right)
        a, b = self.value_of(left), self.value_of(right)
        if a is not None and b is not None:
            return self.boolean(COMPARISONS[name](a, b))
        if b is not None and left.operator == "select" and self._is_choice_of_literals(left):
            return self.choose(
                left.args[0], self.compare(name, left.args[1], right), self.compare(name, left.args[2], right)
            )
        if a is not None and right.operator == "select" and self._is_choice_of_literals(right):
            return self.choose(
                right.args[0],
                self.compare(name, left, right.args[1]),
                self.compare(name, left, right.args[2]),
            )
        return self.make(name, (left, right), "bool")

    def outcomes(self, expression: Expression) -> list[Any] | None:
        """Return the literals that a choice between literals may give; None where it is not one."""
        if not self._is_choice_of_literals(expression):
            return None
        if expression.operator == "literal":
            return [self.value_of(expression)]
        return [value for arg in expression.args[1:] for value in self.outcomes(arg) or ()]

    def _is_choice_of_literals(self, expression: Expression, depth: int = DEEPEST_CHOICE) -> bool:
        """Return whether an expression is a choice between literals, all the way down (which must not be
        far)."""
        if expression.operator == "select" and depth > 0:
            return self._is_choice_of_literals(expression.args[1], depth - 1) and self._is_choice_of_literals(
                expression.args[2], depth - 1
            )
        return expression.operator == "literal"

    def choose(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        """Select among truth values."""
        a, b = self.value_of(yes), self.value_of(no)
        if a is not None and b is not None:
            if a == b:
                return yes
            if a:
                return condition
            return self.negation(condition)
        if a is not None:
            return self.either(condition, no) if a else self.both(self.negation(condition), no)
        if b is not None:
            return self.either(self.negation(condition), yes) if b else self.both(condition, yes)
        return self.either(self.both(condition, yes), self.both(self.negation(condition), no))

    def negation(self, a: Expression) -> Expression:
        """Return the negation of a truth value, simplified."""
        known = self.value_of(a)
        if known is not None:
            return self.boolean(not known)
        return a.args[0] if a.operator == "not" else self.make("not", (a,), "bool")

    def both(self, a: Expression, b: Expression) -> Expression:
        """Return the conjunction of two truth values, simplified."""
        for first, other in ((a, b), (b, a)):
            known = self.value_of(first)
            if known is not None:
                return other if known else self.boolean(False)
        return a if a is b else self.make("and", (a, b), "bool")

    def either(self, a: Expression, b: Expression) -> Expression:
        """Return the disjunction of two truth values, simplified."""
        for first, other in ((a, b), (b, a)):
            known = self.value_of(first)
            if known is not None:
                return self.boolean(True) if known else other
        return a if a is b else self.make("or", (a, b), "bool")

    def select(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        """Return `yes` where the condition holds, else `no`."""
        if yes.kind != no.kind:
            yes, no = self.real(yes), self.real(no)
        if yes.kind == "bool":
            return self.choose(condition, yes, no)
        known = self.value_of(condition)
        if known is not None:
            return yes if known else no
        return yes if yes is no else self.make("select", (condition, yes, no), yes.kind)

    def apply(self, name: str, *args: Expression) -> Expression:
        """Return a real function of reals: add sub mul div neg abs maximum minimum lesser sqrt exp log log1p
        expm1 sigmoid tanh pow floor ceil trunc.

        maximum and minimum give what is no number wherever there is one; lesser gives the other operand (a
        sort has it above all numbers).
        """
        reals = tuple(self.real(arg) for arg in args)
        known = [self.value_of(arg) for arg in reals]
        if name == "mul" and 1.0 in known:
            return reals[1 - known.index(1.0)]
        if name == "div" and known[1] in (1.0, 2.0, 4.0, 0.5, -2.0, -0.5, -1.0):
            return self.apply("mul", reals[0], self.number(1.0 / known[1]))
        if name == "div" and reals[1].domain == "S" and reals[0].domain != "S":
            return self.apply("mul", reals[0], self.apply("div", self.literal(1.0), reals[1]))
        if name == "neg" and known[0] is not None:
            return self.literal(-known[0])
        if name == "neg" and reals[0].operator == "neg":
            return reals[0].args[0]
        if name in ("maximum", "minimum", "lesser") and reals[0] is reals[1]:
            return reals[0]
        return self.make(name, reals, "real")

    def gather(self, source: Expression, index: Expression) -> Expression:
        """Return the value of an N expression at the variable of a literal; of a scalar, itself."""
        if index.operator != "index":
            raise Inexpressible("a gather by an index that is not a clause's variable")
        if source.domain == "S":
            return source
        if source.domain != "N":
            raise Inexpressible("a gather from something that is not a value of each variable")
        if source.kind != "real":
            source = self.real(source)
        return self.make("gather", (source, index), "real", domain="M")

    def scatter(self, pairs: list[tuple[Expression, Expression]]) -> Expression:
        """Return the sum, at each variable, of the values of its literals; pairs of (index, value) in the
        order in which they are added."""
        flat = tuple(item for index, value in pairs for item in (index, self.real(value)))
        if any(index.operator != "index" for index in flat[::2]):
            raise Inexpressible("a scatter by an index that is not a clause's variable")
        return self.make("scatter", flat, "real", domain="N")

    def reduce(self, name: str, over: Expression, axis: Domain) -> Expression:
        """Return sum, max or min of a real over all turns of the loop `axis`."""
        return self.make("reduce", (self.real(over),), "real", (name, axis), "S")


def _common(args: tuple[Expression, ...]) -> Domain:
    domains: set[Domain] = {arg.domain for arg in args if arg.domain != "S"}
    if len(domains) > 1:
        raise Inexpressible("a product of all variables with all clauses")
    return domains.pop() if domains else "S"
