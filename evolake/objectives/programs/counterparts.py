"""What the families of templates look at, as programs: the same statistics in the grammar's words, not the
same numbers.

So the objectives that a line starts with can be parents. Only an objective that is, byte for byte, its
family's file with the constants that it names has a counterpart; other files that no program was written as
have none, and are no parents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evolake.objectives.portfolio import BASELINE_FAMILY, make
from evolake.objectives.programs.drawing import LOG_STEPS
from evolake.objectives.programs.expression import SETTINGS, Expression, rounded
from evolake.objectives.source import objective_id

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
