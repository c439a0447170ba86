"""What a task needs of the worker that takes it, said once where its function is written.

    def check(...)            a jail that has proved itself: whatever is not marked may run generated code
    @trusted                  runs code of evolake alone: a worker without a jail may take it
    @timed                    its time is compared with that of others: a physical core, so that no two timed
                              tasks share one
    @needs(lambda job: ...)   depends on the arguments

Any `concurrent.futures.Executor` takes such a function; only a cluster reads the marks, for a pool of
processes has one host and one jail. Two runs that are compared with each other are one task, hence on one
host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

JAIL = "jail"
CORE = "core"
Needs = Mapping[str, float]
UNTRUSTED: Needs = {JAIL: 1}
TRUSTED: Needs = {}
TIMED: Needs = {JAIL: 1, CORE: 1}
Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "evolake_needs"


def needs(result: Callable[..., Needs] | Needs) -> Callable[[Function], Function]:
    """Return a decorator that states what a task of the function needs, or a function of its arguments that
    says so."""

    def mark(function: Function) -> Function:
        setattr(function, _MARK, result)
        return function

    return mark


def trusted(function: Function) -> Function:
    """Return a decorator that states that the function runs nothing that a candidate wrote."""
    return needs(TRUSTED)(function)


def timed(function: Function) -> Function:
    """Return a decorator that states that the function runs generated code and compares its time."""
    return needs(TIMED)(function)


def needs_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Needs:
    """Return what one task needs; a jail where its function says nothing."""
    result: Any = getattr(function, _MARK, UNTRUSTED)
    return cast("Needs", result(*arguments) if callable(result) else result)
