"""The registry of checkers: a rule file names one by `check`, and gives its parameters.

A checker is a pure function `check(evidence, **parameters) -> Finding | None`: None is a pass. Evidence is a
plain mapping that the line's gate collected (a trace, a result, a count), so that a rule can be replayed on
stored evidence without running anything again.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.errors import InputError
from evolake.gates.boundary import raised_in


@dataclass(frozen=True)
class Finding:
    """Why a candidate is blocked: one line for people, and the sha of stored evidence if there is some."""

    reason: str
    evidence_sha: str | None = None


Checker = Callable[..., Finding | None]
CHECKERS: dict[str, Checker] = {}


def checker(name: str) -> Callable[[Checker], Checker]:
    """Register a checker under `name`. Names are unique over all lines: `designs.traces`, `solvers.proof`."""

    def register(function: Checker) -> Checker:
        if name in CHECKERS and CHECKERS[name] is not function:
            raise ValueError(f"checker {name!r} is registered twice")
        CHECKERS[name] = function
        return function

    return register


def find_checker(name: str) -> Checker:
    """Return the checker called `name`.

    Raises:
        InputError: none is registered under that name.
    """
    if name not in CHECKERS:
        raise InputError(
            f"no checker is called {name!r}",
            wanted=f"one of {', '.join(sorted(CHECKERS))}",
            do="fix `check` in the rule file",
        )
    return CHECKERS[name]


def apply(name: str, evidence: Mapping[str, Any], parameters: Mapping[str, Any]) -> Finding | None:
    """Run one checker; evidence that could not be collected is blocked by every one (see `boundary`).

    Raises:
        InputError: unknown checker, or parameters that it does not take, a pattern that is none. What the
            checker itself raises passes.
    """
    function = find_checker(name)
    try:
        inspect.signature(function).bind(evidence, **parameters)
    except TypeError as error:
        raise InputError(
            f"checker {name!r} does not take these parameters",
            got=f"{dict(parameters)!r}: {error}",
            do="fix the rule file",
        ) from None
    if reason := raised_in(evidence):
        return Finding(reason)
    try:
        return function(evidence, **parameters)
    except re.error as error:
        what = f"a parameter of checker {name!r} is no regular expression"
        raise InputError(
            what, wanted="a pattern of Python's re", got=f"{error.pattern!r}: {error}", do="fix the rule file"
        ) from None
