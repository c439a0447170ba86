"""The canonical form of a program: the same meaning in the same words, so that what is the same is found to
be.

Rules are applied from the leaves up, until none changes anything; every one makes the expression smaller or
puts operands in order, so that this ends, and the form of a form is itself. At the root, what cannot change a
ranking (a constant added, a positive factor) is left out.
"""

from __future__ import annotations

import math

from evolake.objectives.programs.evaluate import constant
from evolake.objectives.programs.expression import (
    AGGREGATES,
    ARITHMETIC,
    CHOICE,
    COMMUTATIVE,
    FUNCTIONS,
    SETTINGS,
    Expression,
    kind_of,
    rounded,
    to_json,
)

FLAT = ("slope", "tail_slope", "spread", "rise")
"""Aggregates of growth and spread: 0 where all sizes have one value. The others then give that value."""
UNSIGNED = ("abs", "square", "root")
"""Functions of a magnitude, which give one."""


def canonical(program: Expression) -> Expression:
    """Return the canonical form of a program; it ranks designs as the program does."""
    form = simplified(program)
    while (bare := simplified(_bare(form))) != form:
        form = bare
    return form


def simplified(expression: Expression) -> Expression:
    """Return the expression in fewer words; its value is the same up to the rounding of literals."""
    while (form := _once(expression)) != expression:
        expression = form
    return expression


def _once(expression: Expression) -> Expression:
    if isinstance(expression, float | int):
        return rounded(expression)
    if isinstance(expression, str):
        return expression
    name, *operands = expression
    if name in SETTINGS:
        setting = operands[0] if SETTINGS[name].whole else rounded(operands[0])
        return _aggregated((name, setting, simplified(operands[1])))
    whole = (name, *(simplified(operand) for operand in operands))
    if name in AGGREGATES:
        return _aggregated(whole)
    if name == CHOICE:
        return _chosen(*whole[1:])
    if all(isinstance(operand, float) for operand in whole[1:]):
        folded = constant(name, whole[1:])
        return rounded(folded) if math.isfinite(folded) else 0.0
    return _function(name, whole[1]) if name in FUNCTIONS else _joined(name, *whole[1:])


def _aggregated(whole: Expression) -> Expression:
    """Return an aggregate of what is one value for all sizes needs no aggregate."""
    if kind_of(whole[-1]) == "level":
        return whole
    return 0.0 if whole[0] in FLAT else whole[-1]


def _chosen(solved: Expression, unsolved: Expression) -> Expression:
    if isinstance(solved, tuple) and solved[0] == CHOICE:
        solved = solved[1]
    if isinstance(unsolved, tuple) and unsolved[0] == CHOICE:
        unsolved = unsolved[2]
    return solved if solved == unsolved else (CHOICE, solved, unsolved)


def _function(name: str, of: Expression) -> Expression:
    inner = of[0] if isinstance(of, tuple) else ""
    if name == "neg" and inner == "neg":
        return of[1]
    if name == "neg" and inner == "sub":
        return ("sub", of[2], of[1])
    if name in UNSIGNED and inner in ("neg", "abs"):
        return (name, of[1])
    return of if name == "abs" and inner in UNSIGNED else (name, of)


def _joined(name: str, first: Expression, second: Expression) -> Expression:
    if name in COMMUTATIVE and to_json(second) < to_json(first):
        first, second = second, first
    sides = (first, second)
    if name in ("min", "max") and first == second:
        return first
    if name in ("add", "sub") and isinstance(second, tuple) and second[0] == "neg":
        return ("sub" if name == "add" else "add", first, second[1])
    if name == "add":
        if 0.0 in sides:
            return second if first == 0.0 else first
        if isinstance(first, tuple) and first[0] == "neg":
            return ("sub", second, first[1])
    if name == "sub":
        if first == second:
            return 0.0
        if 0.0 in sides:
            return first if second == 0.0 else ("neg", second)
    if name in ("mul", "div") and second == 1.0:
        return first
    if name == "mul":
        if 1.0 in sides:
            return second
        if 0.0 in sides:
            return 0.0
        if first == second:
            return ("square", first)
        if -1.0 in sides:
            return ("neg", second if first == -1.0 else first)
    return (name, first, second)


def _bare(form: Expression) -> Expression:
    """Return the root without what no ranking can show."""
    if not isinstance(form, tuple) or form[0] not in ARITHMETIC:
        return form
    name, first, second = form
    if name in ("add", "sub") and isinstance(second, float):
        return first
    if name == "add" and isinstance(first, float):
        return second
    if name == "sub" and isinstance(first, float):
        return ("neg", second)
    if name in ("mul", "div") and isinstance(second, float) and second > 0:
        return first
    return second if name == "mul" and isinstance(first, float) and first > 0 else form
