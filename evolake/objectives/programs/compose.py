"""Programs as objective files, and back.

A file is the functions of `runtime` and `families.levels` that its program uses, cut out as text, and
`objective(experiment_results)`. It depends on the program alone: equal programs are equal files, and so one
objective. `read` takes the program out of a file's last line and believes it only where the file is, byte for
byte, what that program is written as: whatever else a file does makes it no program.

What the families of templates look at, as programs: the same statistics in the grammar's words, not the
same numbers.

So the objectives that a line starts with can be parents. Only an objective that is, byte for byte, its
family's file with the constants that it names has a counterpart; other files that no program was written as
have none, and are no parents.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from evolake.errors import InputError
from evolake.objectives.portfolio import BASELINE_FAMILY, make
from evolake.objectives.programs.expression import (
    AGGREGATES,
    CHOICE,
    SETTINGS,
    Expression,
    is_program,
    rounded,
)
from evolake.objectives.programs.genetic import LOG_STEPS
from evolake.objectives.source import FAMILY_FOLDER, HELPERS, canonical, excerpt, objective_id
from evolake.parsing import parse_python

FOLDER = "evolake.objectives.programs"
NAMES: Mapping[str, str] = {
    "n": "level['n']",
    "steps": "level['steps']",
    "limit": "level['max_steps']",
    "solved": "float(level['solved'])",
    "left": "left(level)",
    "budget": "budget(level['n'])",
    "back": "back(levels, level)",
    "reach": "reach(levels)",
    "top": "levels[-1]['n']",
}
INFIX: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*"}
CALLED: Mapping[str, str] = {"div": "over", "min": "min", "max": "max"}
HEAD = "An objective that was written as a program: a score from the sizes that were run, lower is better."
LONGEST = 20_000


def compose(program: Expression) -> str:
    """Return the objective file of a program, in the form that `source.canonical` gives."""
    code = _written(program, NAMES.__getitem__, _over_levels, "({} if level['solved'] else {})")
    used = {node.id for node in ast.walk(parse_python(code)) if isinstance(node, ast.Name)} | {
        "bounded",
        "read_levels",
        "WORST",
    }
    body = (
        f'def objective(experiment_results):\n    """{words(program)}"""\n    levels = '
        "read_levels(experiment_results)\n    if not levels:\n"
        f"        return WORST\n    return bounded({code})"
    )
    helpers = excerpt(used, (FOLDER, "runtime"), (FAMILY_FOLDER, HELPERS))
    return canonical(f'"""{HEAD}"""\n\n{helpers}\n\n\n{body}\n')


def words(program: Expression) -> str:
    """Return a program for people: arithmetic as it is read, aggregates as functions of what is taken at each
    size."""
    text = _written(
        program,
        str,
        lambda name, inner, setting: f"{name}({inner}{'' if setting is None else f', {setting:g}'})",
        "if_solved({}, {})",
    )
    return text[1:-1] if isinstance(program, tuple) and program[0] in INFIX else text


def read(source: str) -> Expression | None:
    """Return the program of an objective file; None for a file that was not written from one."""
    if len(source) > LONGEST:
        return None
    try:
        last = parse_python(source).body[-1]
        returned = last.body[-1] if isinstance(last, ast.FunctionDef) else None
        if (
            not isinstance(returned, ast.Return)
            or not isinstance(returned.value, ast.Call)
            or len(returned.value.args) != 1
        ):
            return None
        result = _read(returned.value.args[0])
    except (InputError, SyntaxError, ValueError, OverflowError, RecursionError, MemoryError, IndexError):
        return None
    return result if is_program(result) and compose(result) == canonical(source) else None


def _written(
    expression: Expression,
    name_of: Callable[[str], str],
    aggregate: Callable[[str, str, float | int | None], str],
    choice: str,
) -> str:
    if isinstance(expression, str):
        return name_of(expression)
    if not isinstance(expression, tuple):
        return repr(expression) if expression >= 0 else f"({expression!r})"
    name, *operands = expression
    setting = operands.pop(0) if name in SETTINGS else None
    texts = [_written(operand, name_of, aggregate, choice) for operand in operands]
    if name in AGGREGATES or name in SETTINGS:
        return aggregate(name, texts[0], setting)
    if name == CHOICE:
        return choice.format(*texts)
    if name in INFIX:
        return f"({texts[0]} {INFIX[name]} {texts[1]})"
    return f"(-{texts[0]})" if name == "neg" else f"{CALLED.get(name, name)}({', '.join(texts)})"


def _over_levels(name: str, inner: str, setting: float | int | None) -> str:
    return f"{name}(levels, [{inner} for level in levels]{'' if setting is None else f', {setting!r}'})"


def _read(node: ast.expr) -> Expression:
    """Return the expression of a piece of code. Raises ValueError for code that no program is written as."""
    text = ast.unparse(node)
    for name, written in NAMES.items():
        if text == written:
            return name
    match node:
        case ast.Constant(value=float() | int() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() | int() as number)):
            return -number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return ("neg", _read(inner))
        case ast.BinOp(left=first, op=operator, right=second):
            named = {"Add": "add", "Sub": "sub", "Mult": "mul"}.get(type(operator).__name__)
            if named is not None:
                return (named, _read(first), _read(second))
        case ast.IfExp(body=solved, orelse=unsolved):
            return (CHOICE, _read(solved), _read(unsolved))
        case ast.Call(func=ast.Name(id=name), args=[_, ast.ListComp(elt=inner), *setting]) if (
            name in AGGREGATES or name in SETTINGS
        ):
            return (name, *(_read(value) for value in setting), _read(inner))
        case ast.Call(func=ast.Name(id=name), args=operands):
            named = {written: own for own, written in CALLED.items()}.get(name, name)
            return (named, *(_read(operand) for operand in operands))
        case _:
            pass
    raise ValueError(f"no program is written as {text[:80]}")


SHARE: Expression = ("log", ("div", "steps", "budget"))
Constants = Mapping[str, float]


def counterpart(family: str | None, parameters: Mapping[str, Any], source: str) -> Expression | None:
    """Return the program of an objective of a family; None where `source` is not that family's file with
    these constants."""
    if family is None or family not in COUNTERPARTS:
        return None
    try:
        if make(family, parameters, "").objective_id != objective_id(source):
            return None
    except ValueError:
        return None
    return of_family(family, {name: float(number) for name, number in parameters.items()})


def of_family(family: str, constants: Constants | None = None) -> Expression:
    """Return the program of a family, with the constants that are named. Raises KeyError for a family without
    one."""
    return COUNTERPARTS[family](constants or {})


def _extrapolation(constants: Constants) -> Expression:
    return ("forecast", _size(constants.get("TARGET_N", 2000)), LOG_STEPS)


def _restart(constants: Constants) -> Expression:
    failed = ("add", ("max", ("log", "limit"), LOG_STEPS), "left")
    return (
        "sub",
        ("weighted", rounded(constants.get("EMPHASIS", 0.5)), ("if_solved", LOG_STEPS, failed)),
        ("log", "reach"),
    )


def _reach(constants: Constants) -> Expression:
    return (
        "sub",
        ("mul", rounded(constants.get("TIE", 0.3)), ("squash", ("tail_slope", 3, LOG_STEPS))),
        ("log", "reach"),
    )


def _headroom(constants: Constants) -> Expression:
    last = int(constants.get("LAST", 3))
    used = ("tail", last, SHARE) if last > 1 else ("last", SHARE)
    return ("sub", used, ("mul", rounded(constants.get("PULL", 0.3)), ("log", "reach")))


def _tail(constants: Constants) -> Expression:
    return ("add", ("last", LOG_STEPS), ("mul", 2.0, ("rise", LOG_STEPS)))


def _cliff(constants: Constants) -> Expression:
    effort = ("sub", ("tail", 2, LOG_STEPS), ("mul", 2.0, ("log", "reach")))
    return ("add", ("rise", LOG_STEPS), ("mul", rounded(constants.get("LEVEL_SHARE", 0.3)), effort))


def _bottleneck(constants: Constants) -> Expression:
    return ("max", ("highest", SHARE), ("forecast", _size(constants.get("NEAR_N", 1810)), SHARE))


def _size(number: float) -> int:
    bounds = SETTINGS["forecast"]
    return int(max(bounds.low, min(bounds.high, number)))


COUNTERPARTS: Mapping[str, Callable[[Constants], Expression]] = {
    BASELINE_FAMILY: _extrapolation,
    "extrapolation": _extrapolation,
    "restart": _restart,
    "reach": _reach,
    "headroom": _headroom,
    "tail": _tail,
    "cliff": _cliff,
    "bottleneck": _bottleneck,
}
