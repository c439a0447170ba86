"""Reading `VARIABLES_SPEC` and `HYPER_SPACE`: whatever a file wrote there, as checked values. ValueErrors say
what is wrong with which entry.

The jail reads the file with these functions, and the host reads the jail's reply with the same ones: names,
shapes, bounds, ranges and choices are checked twice, and the second time by a process that the design has
never run in.
"""

from __future__ import annotations

import math
from typing import Any

from evolake.designs.model.boundary import shown
from evolake.designs.model.contract import HYPER_TYPES, NAME, Hyper, HyperValue, Variable

MAX_ENTRIES = 256
_MAX_EXTENT = 64
_MAX_CHOICES = 64
_MAX_TEXT = 200
_LARGEST_WHOLE = 2**53
_LARGEST_RANGE = 1e100


def read_variables(spec: Any) -> tuple[tuple[Variable, ...], dict[str, Any]]:
    """Return the variables, in the file's order, and their initialisers by name. `v` of shape (B, N) is
    required: it is what the clauses are checked on.
    """
    if not isinstance(spec, dict) or not spec or len(spec) > MAX_ENTRIES:
        raise ValueError("VARIABLES_SPEC is no dict of variables")
    variables, initialisers = [], {}
    for name, entry in spec.items():
        checked_name(name, "variable")
        if not isinstance(entry, dict):
            raise ValueError(f"variable {name!r}: wanted a dict with init, shape and bounds")
        missing = [key for key in ("init", "shape", "bounds") if key not in entry]
        if missing:
            raise ValueError(f"variable {name!r}: no {', no '.join(missing)}")
        if not callable(entry["init"]):
            raise ValueError(f"variable {name!r}: init is not a function of the shape")
        variables.append(checked_variable(name, entry["shape"], entry["bounds"]))
        initialisers[name] = entry["init"]
    if not any(variable.name == "v" and variable.shape == ("B", "N") for variable in variables):
        raise ValueError('variable \'v\' of shape ("B", "N") is missing')
    return tuple(variables), initialisers


def checked_name(name: Any, what: str) -> str:
    """Return a name of a variable or hyperparameter: ASCII letters, digits and underscores, at most 64. Names
    of ours hold a character that these cannot.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"{what} {shown(name, 64)}: a name is letters, digits and underscores, at most 64")
    return name


def checked_variable(name: Any, shape: Any, bounds: Any) -> Variable:
    """Return a variable from raw values. Infinite or absent bounds become None: unbounded on that side."""
    checked_name(name, "variable")
    if not isinstance(shape, list | tuple) or len(shape) > 4 or not shape or shape[0] != "B":
        raise ValueError(
            f"variable {name!r}: the shape starts with B and has at most four axes (got {shown(shape)})"
        )
    for extent in shape[1:]:
        if extent not in ("N", "M") and not (
            isinstance(extent, int) and not isinstance(extent, bool) and 0 < extent <= _MAX_EXTENT
        ):
            raise ValueError(
                f"variable {name!r}: an axis is N, M or an integer up to {_MAX_EXTENT} (got {shown(extent)})"
            )
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ValueError(f"variable {name!r}: bounds are a pair (got {shown(bounds)})")
    low, high = (_bound(name, item) for item in bounds)
    if low is not None and high is not None and low > high:
        raise ValueError(f"variable {name!r}: the lower bound {low} is above the upper {high}")
    return Variable(name, tuple(shape), low, high)


def _bound(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if number is None or math.isnan(number):
        raise ValueError(f"variable {name!r}: a bound is not a number (got {shown(value)})")
    return None if math.isinf(number) else number


def read_hypers(spec: Any) -> tuple[Hyper, ...]:
    """Return the hyperparameters, in the file's order."""
    if not isinstance(spec, dict) or len(spec) > MAX_ENTRIES:
        raise ValueError("HYPER_SPACE is no dict of hyperparameters")
    hypers = []
    for name, entry in spec.items():
        checked_name(name, "hyperparameter")
        if not isinstance(entry, dict) or "type" not in entry or "default" not in entry:
            raise ValueError(f"hyperparameter {name!r}: wanted a dict with type and default")
        choices = entry.get("choices", ())
        hypers.append(
            checked_hyper(name, entry["type"], entry["default"], entry.get("low"), entry.get("high"), choices)
        )
    return tuple(hypers)


def checked_hyper(name: Any, kind: Any, default: Any, low: Any, high: Any, choices: Any) -> Hyper:
    """Return a hyperparameter from raw values; its default must be in its own range, and `lr`, which our step
    multiplies by, is always a finite number.
    """
    checked_name(name, "hyperparameter")
    if not isinstance(kind, str) or kind not in HYPER_TYPES:
        raise ValueError(
            f"hyperparameter {name!r}: type is one of {', '.join(HYPER_TYPES)} (got {shown(kind)})"
        )
    if kind == "categorical":
        if not isinstance(choices, list | tuple) or not 0 < len(choices) <= _MAX_CHOICES:
            raise ValueError(
                f"hyperparameter {name!r}: a categorical one lists its choices, 1 to {_MAX_CHOICES} of them"
            )
        hyper = Hyper(
            name, kind, _choice(name, default), None, None, tuple(_choice(name, item) for item in choices)
        )
    else:
        numbers = [_number(item) for item in (default, low, high)]
        if any(item is None or not math.isfinite(item) for item in numbers):
            got = ", ".join(shown(item) for item in (default, low, high))
            raise ValueError(f"hyperparameter {name!r}: default, low and high are finite numbers (got {got})")
        if kind == "int" and any(abs(item) > _LARGEST_WHOLE for item in numbers if item is not None):
            raise ValueError(f"hyperparameter {name!r}: a whole number is at most 2^53")
        if any(
            abs(item) > _LARGEST_RANGE or (kind == "log_uniform" and 0 < item < 1 / _LARGEST_RANGE)
            for item in numbers
            if item is not None
        ):
            raise ValueError(
                f"hyperparameter {name!r}: its range leaves what can be searched, {1 / _LARGEST_RANGE:g} "
                f"to {_LARGEST_RANGE:g}"
            )
        kept: HyperValue = int(default) if kind == "int" else float(default)
        hyper = Hyper(name, kind, kept, float(low), float(high))
        if (
            hyper.low is not None
            and hyper.high is not None
            and (hyper.low > hyper.high or (kind == "log_uniform" and hyper.low <= 0))
        ):
            raise ValueError(f"hyperparameter {name!r}: no range from {low} to {high} for {kind}")
    problem = outside(hyper, hyper.default)
    if problem:
        raise ValueError(f"hyperparameter {name!r}: the default {problem}")
    if name == "lr" and not all(_is_rate(item) for item in hyper.choices or (hyper.default,)):
        raise ValueError("hyperparameter 'lr': the learning rate is a finite number")
    return hyper


def _choice(name: str, value: Any) -> HyperValue:
    """Return a value of a categorical hyperparameter: a truth value, a number that JSON and a float64 can
    hold, or a short text."""
    if isinstance(value, bool) or (
        isinstance(value, str) and len(value) <= _MAX_TEXT and value.isprintable()
    ):
        return value
    if isinstance(value, int) and abs(value) <= _LARGEST_WHOLE:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    wanted = (
        f"a choice is True, False, a finite number, or a text of at most {_MAX_TEXT} printable characters"
    )
    raise ValueError(f"hyperparameter {name!r}: {wanted} (got {shown(value)})")


def _is_rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def outside(hyper: Hyper, value: Any) -> str | None:
    """Return why `value` cannot be taken by `hyper`, or None. A hair's breadth outside the range is forgiven:
    tuned defaults sit on its edge."""
    if hyper.type == "categorical":
        return None if value in hyper.choices else f"{shown(value)} is none of the choices"
    number = _number(value)
    if number is None or not math.isfinite(number):
        return f"{shown(value)} is not a finite number"
    assert hyper.low is not None and hyper.high is not None
    slack = 1e-9 * max(abs(hyper.low), abs(hyper.high), 1e-300)
    if not hyper.low - slack <= number <= hyper.high + slack:
        return f"{shown(value)} is outside {hyper.low} to {hyper.high}"
    return None


def _number(value: Any) -> float | None:
    """Return a float from a Python or numpy number, None from anything else."""
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
