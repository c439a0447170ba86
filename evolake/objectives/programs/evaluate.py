"""A program's value without a file: the reference that composed files are held to, and what the operators try
their children by."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evolake.objectives.families.levels import budget, read_levels
from evolake.objectives.programs import runtime
from evolake.objectives.programs.expression import AGGREGATES, ARITHMETIC, CHOICE, SETTINGS, Expression

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
