"""Typed expressions of the open grammar: what a drive is made of, its kind, its size, and its canonical form.

An expression is a number, a name, or a tuple (operator, operand, ...). Every expression has a kind, which
says over what it runs:

    scalar    one number per instance          clause    one number per clause
    variable  one number per variable          literal   one number per literal (three per clause)

Operands of one operator are joined: a scalar fits everything, a clause's number is that of its three
literals. A variable's number gets to literals by `at` and nowhere else by itself; `lowest`, `highest` and
`middle` lead from literals to their clause, `around` from clauses to the variables in them, and `overall` to
a scalar. Operators have no poles and no roots of what is negative: `log` is log(1 + |x|), `root` is
sqrt(|x|), `exp` stops at exp(10), `div` is a/(|b| + 0.001), `power` is (|a| + 1e-6)**b with b between -3 and
3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

Expression = Any
"""float | str | tuple[str, Expression, ...]"""
Kind = Literal["scalar", "clause", "literal", "variable"]
Path = tuple[int, ...]

FUNCTIONS = ("neg", "abs", "square", "root", "log", "exp", "tanh", "sigmoid", "relu")
ARITHMETIC = ("add", "sub", "mul", "div", "min", "max")
COMMUTATIVE = ("add", "mul", "min", "max")
REDUCTIONS: Mapping[str, tuple[Kind, Kind]] = {
    "at": ("variable", "literal"),
    "lowest": ("literal", "clause"),
    "highest": ("literal", "clause"),
    "middle": ("literal", "clause"),
    "around": ("clause", "variable"),
    "overall": ("clause", "scalar"),
}
ARITY: Mapping[str, int] = dict.fromkeys((*FUNCTIONS, *REDUCTIONS), 1) | dict.fromkeys(
    (*ARITHMETIC, "power"), 2
)

STATISTICS = ("true3", "true2", "true1", "true0", "speed", "variables", "clauses", "ratio", "log_variables")
"""Numbers of the whole formula: shares of clauses with 3, 2, 1 and 0 true literals, the largest |pull|, N, M,
M/N and ln N."""

LEAVES: Mapping[str, Kind] = {
    "c": "clause",
    "second": "clause",
    "xl": "clause",
    "xs": "clause",
    "u": "literal",
    "rival": "literal",
    "best": "literal",
    "v": "variable",
    "pull": "variable",
    "drift": "variable",
    **dict.fromkeys(STATISTICS, "scalar"),
}
"""The names that every design has; `open_genome` says what they are. Memory variables and parameters come on
top."""

NUMBERED = re.compile(r"[km]\d+|fresh\w*|given_\w+")
"""Names of parameters and memories that are numbered again in every genome."""


class IllTyped(ValueError):
    """An expression that has no kind: an unknown name or operator, or operands that do not fit."""


def joined(first: Kind, second: Kind) -> Kind:
    """Return the kind of two operands taken together."""
    if first == second or second == "scalar":
        return first
    if first == "scalar":
        return second
    if {first, second} == {"clause", "literal"}:
        return "literal"
    raise IllTyped(f"a {first} and a {second} do not fit together")


def fits(kind: Kind, wanted: Kind) -> bool:
    """Return whether an expression of `kind` may be where `wanted` is asked for."""
    return kind in ("scalar", wanted) or (kind == "clause" and wanted == "literal")


def kind_of(expression: Expression, names: Mapping[str, Kind]) -> Kind:
    """Return the kind of a whole expression. names: kinds of all names at hand.

    Raises:
        IllTyped: it has none.
    """
    if isinstance(expression, bool):
        raise IllTyped("a truth value is no number")
    if isinstance(expression, int | float):
        return "scalar"
    if isinstance(expression, str):
        if expression not in names:
            raise IllTyped(f"no name {expression!r} at hand here")
        return names[expression]
    if (
        not isinstance(expression, tuple)
        or not expression
        or len(expression) != 1 + ARITY.get(str(expression[0]), -2)
    ):
        raise IllTyped(f"{str(expression)[:80]} is no expression")
    operator, *operands = expression
    kinds: list[Kind] = [kind_of(operand, names) for operand in operands]
    if operator in REDUCTIONS:
        wanted, given = REDUCTIONS[operator]
        if not fits(kinds[0], wanted) and not (operator == "overall" and kinds[0] == "variable"):
            raise IllTyped(f"{operator} is of a {wanted}, not of a {kinds[0]}")
        return given
    if operator == "power" and kinds[1] != "scalar":
        raise IllTyped("an exponent is a scalar")
    return kinds[0] if len(kinds) == 1 else joined(kinds[0], kinds[1])


def size(expression: Expression) -> int:
    """Return the number of nodes, leaves included."""
    return 1 + sum(size(operand) for operand in expression[1:]) if isinstance(expression, tuple) else 1


def places(expression: Expression, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Yield every subexpression with its path, from the root on."""
    yield path, expression
    if isinstance(expression, tuple):
        for number, operand in enumerate(expression[1:], start=1):
            yield from places(operand, (*path, number))


def replaced(expression: Expression, path: Path, by: Expression) -> Expression:
    """Return the expression with another one at a path."""
    if not path:
        return by
    at = path[0]
    return (*expression[:at], replaced(expression[at], path[1:], by), *expression[at + 1 :])


def renamed(expression: Expression, name: Callable[[str], str]) -> Expression:
    """Return every name through `name`."""
    if isinstance(expression, str):
        return name(expression)
    return (
        (expression[0], *(renamed(operand, name) for operand in expression[1:]))
        if isinstance(expression, tuple)
        else expression
    )


def substituted(expression: Expression, names: Mapping[str, Expression]) -> Expression:
    """Return the expression with what stands for each of the names in its place."""
    if isinstance(expression, str):
        return names.get(expression, expression)
    return (
        (expression[0], *(substituted(operand, names) for operand in expression[1:]))
        if isinstance(expression, tuple)
        else expression
    )


def leaf_names(expression: Expression) -> list[str]:
    """Return names in the order of their first appearance."""
    return list(dict.fromkeys(result for _, result in places(expression) if isinstance(result, str)))


def heads(expression: Expression) -> set[str]:
    """Operators and names that appear."""
    return {
        result[0] if isinstance(result, tuple) else result
        for _, result in places(expression)
        if isinstance(result, tuple | str)
    }


def tupled(data: Any) -> Expression:
    """Return what JSON made of an expression, as one again."""
    return (str(data[0]), *(tupled(item) for item in data[1:])) if isinstance(data, list) and data else data


def order(expression: Expression) -> tuple[int, str]:
    """Return what operands of a commutative operator are sorted by. How memories and further parameters are
    numbered is no part of it."""
    return size(expression), repr(renamed(expression, lambda name: "*" if NUMBERED.fullmatch(name) else name))


def simplified(expression: Expression) -> Expression:
    """Return the same function in canonical form: neutral elements gone, numbers folded, operands of
    commutative operators in order.

    Only identities that hold for every finite operand up to rounding are used, so behaviour stays.
    """
    once = _rewritten(expression)
    return once if once == expression else simplified(once)


def _rewritten(expression: Expression) -> Expression:
    """One pass from the leaves to the root. No rule makes an expression larger, so passes come to an end."""
    if not isinstance(expression, tuple):
        return float(expression) if isinstance(expression, int) else expression
    operator, *operands = (expression[0], *(_rewritten(operand) for operand in expression[1:]))
    if operator in COMMUTATIVE:
        operands.sort(key=order)
    rule = _RULES.get(operator)
    shorter = rule(*operands) if rule else None
    return (operator, *operands) if shorter is None else shorter


def _sum(first: Expression, second: Expression) -> Expression | None:
    if isinstance(first, float) and isinstance(second, float):
        return first + second
    for item, other in ((first, second), (second, first)):
        if item == 0.0:
            return other
        if isinstance(item, tuple) and item[0] == "neg":
            return simplified(("sub", other, item[1]))
    return simplified(("mul", 2.0, first)) if first == second else None


def _difference(first: Expression, second: Expression) -> Expression | None:
    if first == second:
        return 0.0
    if isinstance(first, float) and isinstance(second, float):
        return first - second
    if second == 0.0:
        return first
    if isinstance(second, tuple) and second[0] == "neg":
        return simplified(("add", first, second[1]))
    return simplified(("neg", second)) if first == 0.0 else None


def _product(first: Expression, second: Expression) -> Expression | None:
    if isinstance(first, float) and isinstance(second, float):
        return first * second
    for item, other in ((first, second), (second, first)):
        if item == 0.0:
            return 0.0
        if item == 1.0:
            return other
        if isinstance(item, tuple) and item[0] == "neg":
            return simplified(("neg", ("mul", item[1], other)))
    return ("square", first) if first == second else None


def _negation(operand: Expression) -> Expression | None:
    if isinstance(operand, float):
        return -operand
    if isinstance(operand, tuple) and operand[0] == "neg":
        return operand[1]
    return ("sub", operand[2], operand[1]) if isinstance(operand, tuple) and operand[0] == "sub" else None


def _even(name: str) -> Callable[[Expression], Expression | None]:
    """Of a function that does not see its operand's sign."""

    def rule(operand: Expression) -> Expression | None:
        if isinstance(operand, tuple) and operand[0] in ("neg", "abs"):
            return simplified((name, operand[1]))
        return (
            operand
            if name == "abs"
            and isinstance(operand, tuple)
            and operand[0] in ("square", "root", "log", "exp", "sigmoid", "relu")
            else None
        )

    return rule


def _positive(operand: Expression) -> Expression | None:
    never_negative = ("abs", "square", "root", "log", "exp", "sigmoid", "relu")
    return operand if isinstance(operand, tuple) and operand[0] in never_negative else None


def _either(first: Expression, second: Expression) -> Expression | None:
    return first if first == second else None


_RULES: Mapping[str, Callable[..., Expression | None]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "neg": _negation,
    "min": _either,
    "max": _either,
    "relu": _positive,
    **{name: _even(name) for name in ("abs", "square", "root", "log")},
}
