"""Expressions of objective programs: their operators, their kinds, and how to walk them.

An expression is a number, a name, or a tuple of an operator and its operands, as JSON has them (lists for
tuples). It has one of two kinds: "level", a value for each size that was run, and "number", one value for the
design. Aggregates make numbers of levels; arithmetic joins the two. Some aggregates take a setting, a literal
in front of their operand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["number", "level"]
Expression = Any
Path = tuple[int, ...]

LEVEL_NAMES = ("n", "steps", "solved", "left", "limit", "budget", "back")
"""Size; median steps; 1 where solved, else 0; share unsolved above one half; steps allowed; steps of the
schedule; octaves below the largest size."""
NUMBER_NAMES = ("reach", "top")
"""Largest size solved, at least 1; largest size run."""
FUNCTIONS = ("neg", "abs", "log", "root", "square", "squash")
ARITHMETIC = ("add", "sub", "mul", "div", "min", "max")
COMMUTATIVE = ("add", "mul", "min", "max")
CHOICE = "if_solved"
AGGREGATES = ("mean", "highest", "lowest", "last", "slope", "spread", "rise")
MAX_SIZE = 40
DIGITS = 4


@dataclass(frozen=True)
class Setting:
    """The literal in front of an aggregate's operand: a whole number or a float within bounds."""

    low: float
    high: float
    whole: bool


SETTINGS: Mapping[str, Setting] = {
    "weighted": Setting(-1.0, 3.0, False),
    "quantile": Setting(0.0, 1.0, False),
    "tail": Setting(2, 5, True),
    "tail_slope": Setting(2, 5, True),
    "forecast": Setting(320, 4000, True),
}
"""weighted: mean with weights n**p. quantile: over sizes. tail, tail_slope: of the last k sizes. forecast:
the line in log n, at a size."""
ARITY: Mapping[str, int] = (
    dict.fromkeys(FUNCTIONS, 1)
    | dict.fromkeys(ARITHMETIC, 2)
    | {CHOICE: 2}
    | dict.fromkeys(AGGREGATES, 1)
    | dict.fromkeys(SETTINGS, 2)
)


class IllTyped(ValueError):
    """An expression that has no kind: an unknown name or operator, operands that do not fit, a literal out of
    bounds."""


def kind_of(expression: Expression) -> Kind:
    """Return the kind of a whole expression. Raises IllTyped where it has none."""
    if isinstance(expression, bool):
        raise IllTyped("a truth value is no number")
    if isinstance(expression, int | float):
        if not _is_finite(expression):
            raise IllTyped("a literal must be finite, and within what a float holds")
        return "number"
    if isinstance(expression, str):
        if expression in LEVEL_NAMES:
            return "level"
        if expression in NUMBER_NAMES:
            return "number"
        raise IllTyped(f"no name {expression[:40]!r}")
    if (
        not isinstance(expression, tuple)
        or not expression
        or len(expression) != 1 + ARITY.get(str(expression[0]), -2)
    ):
        raise IllTyped(f"{str(expression)[:80]} is no expression")
    operator, *operands = expression
    if operator in SETTINGS:
        _check_setting(operator, operands.pop(0))
    kinds = [kind_of(operand) for operand in operands]
    if operator in AGGREGATES or operator in SETTINGS:
        if kinds[0] != "level":
            raise IllTyped(f"{operator} is of a value for each size")
        return "number"
    return "level" if operator == CHOICE or "level" in kinds else "number"


def is_program(expression: Expression) -> bool:
    """Return whether it is an expression of kind "number" of at most `MAX_SIZE` nodes."""
    try:
        return kind_of(expression) == "number" and size(expression) <= MAX_SIZE
    except (IllTyped, OverflowError, RecursionError):
        return False


def size(expression: Expression) -> int:
    """Return the number of nodes, leaves and settings included."""
    return 1 + sum(size(operand) for operand in expression[1:]) if isinstance(expression, tuple) else 1


def places(expression: Expression, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Yield every subexpression with its path, from the root on. A setting is none: it stays with its
    operator."""
    yield path, expression
    if isinstance(expression, tuple):
        for number in range(2 if expression[0] in SETTINGS else 1, len(expression)):
            yield from places(expression[number], (*path, number))


def literals(expression: Expression, path: Path = ()) -> Iterator[tuple[Path, float | int, Setting | None]]:
    """Yield every literal with its path, and its bounds where it is a setting."""
    if isinstance(expression, tuple):
        setting = SETTINGS.get(expression[0])
        for number, operand in enumerate(expression[1:], start=1):
            if setting and number == 1:
                yield (*path, 1), operand, setting
            else:
                yield from literals(operand, (*path, number))
    elif not isinstance(expression, str):
        yield path, expression, None


def replaced(expression: Expression, path: Path, by: Expression) -> Expression:
    """Return the expression with another one at a path."""
    if not path:
        return by
    at = path[0]
    return (*expression[:at], replaced(expression[at], path[1:], by), *expression[at + 1 :])


def to_json(expression: Expression) -> str:
    """Return it as it is stored: the column `genome` of objectives."""
    return json.dumps(expression, separators=(",", ":"))


def from_json(text: str) -> Expression | None:
    """Return a stored program; None for what is none, whatever it is."""
    try:
        result = _tuples(json.loads(text))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return result if is_program(result) else None


def rounded(value: float) -> float:
    """Return a literal as programs have them: four significant digits, no negative zero."""
    return float(f"{float(value):.{DIGITS}g}") + 0.0


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _check_setting(operator: str, value: Any) -> None:
    setting = SETTINGS[operator]
    fits = (
        isinstance(value, int if setting.whole else float)
        and not isinstance(value, bool)
        and setting.low <= value <= setting.high
    )
    if not fits:
        raise IllTyped(
            f"{operator} takes {'a whole number' if setting.whole else 'a number'} from {setting.low:g} "
            f"to {setting.high:g}"
        )


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
