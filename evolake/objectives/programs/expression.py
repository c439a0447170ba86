"""Expressions of objective programs: their operators, their kinds, and how to walk them.

An expression is a number, a name, or a tuple of an operator and its operands, as JSON has them (lists for
tuples). It has one of two kinds: "level", a value for each size that was run, and "number", one value for the
design. Aggregates make numbers of levels; arithmetic joins the two. Some aggregates take a setting, a literal
in front of their operand.

A program's value without a file: the reference that composed files are held to, and what the operators try
their children by.

The canonical form of a program: the same meaning in the same words, so that what is the same is found to
be.

Rules are applied from the leaves up, until none changes anything; every one makes the expression smaller or
puts operands in order, so that this ends, and the form of a form is itself. At the root, what cannot change a
ranking (a constant added, a positive factor) is left out.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.objectives.families.levels import budget, read_levels
from evolake.objectives.programs import runtime

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


Level = Mapping[str, Any]
ONE: Mapping[str, Callable[[Any], float]] = {
    "neg": operator.neg,
    "abs": abs,
    "log": runtime.log,
    "root": runtime.root,
    "square": runtime.square,
    "squash": runtime.squash,
}
TWO: Mapping[str, Callable[[Any, Any], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": runtime.over,
    "min": min,
    "max": max,
}


def value(program: Expression, experiment_results: Sequence[Mapping[str, Any]]) -> float:
    """Return the score of a design with these results, lower is better; `runtime.WORST` where they say
    nothing."""
    levels = read_levels(experiment_results)
    return runtime.bounded(_number(program, levels, None)) if levels else runtime.WORST


def constant(name: str, operands: Sequence[float]) -> float:
    """Return what an operator of arithmetic or a function gives for literals."""
    return TWO[name](*operands) if name in ARITHMETIC else ONE[name](*operands)


def _number(expression: Expression, levels: Sequence[Level], level: Level | None) -> float:
    """Return the value at one level; `level` is None outside of aggregates."""
    if isinstance(expression, int | float):
        return expression
    if isinstance(expression, str):
        return _named(expression, levels, level)
    name, *operands = expression
    if name in AGGREGATES:
        return getattr(runtime, name)(levels, [_number(operands[0], levels, item) for item in levels])
    if name in SETTINGS:
        return getattr(runtime, name)(
            levels, [_number(operands[1], levels, item) for item in levels], operands[0]
        )
    if name == CHOICE:
        assert level is not None
        return _number(operands[0] if level["solved"] else operands[1], levels, level)
    return constant(name, [_number(operand, levels, level) for operand in operands])


def _named(name: str, levels: Sequence[Level], level: Level | None) -> float:
    if name == "reach":
        return runtime.reach(levels)
    if name == "top":
        return levels[-1]["n"]
    assert level is not None
    result = {
        "n": level["n"],
        "steps": level["steps"],
        "limit": level["max_steps"],
        "solved": float(level["solved"]),
    }
    if name in result:
        return result[name]
    if name == "budget":
        return budget(level["n"])
    if name == "left":
        return runtime.left(level)
    return runtime.back(levels, level)


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
