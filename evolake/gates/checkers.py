"""The registry of checkers, and what a rule of an installed line may name: a rule file names one by `check`,
and gives its parameters.

A checker is a pure function `check(evidence, **parameters) -> Finding | None`: None is a pass. Evidence is a
plain mapping that the line's gate collected (a trace, a result, a count), so that a rule can be replayed on
stored evidence without running anything again.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from evolake.errors import InputError
from evolake.gate_spec import GateSpec
from evolake.gates.boundary import raised_in
from evolake.lazy import Lazy
from evolake.lines import lines


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
    """Return the checker called `name`, of the modules that its line declares.

    Raises:
        InputError: the line has none of that name.
    """
    if name not in CHECKERS:
        known_gates(name.partition(".")[0])
    if name not in CHECKERS:
        raise InputError(
            f"no checker is called {name!r}",
            wanted=f"one of {', '.join(sorted(CHECKERS))}",
            do="fix `check` in the rule file",
        )
    return CHECKERS[name]


@functools.lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def apply(name: str, evidence: Mapping[str, Any], parameters: Mapping[str, Any]) -> Finding | None:
    """Run one checker; evidence that could not be collected is blocked by every one (see `boundary`).

    Raises:
        InputError: unknown checker, or parameters that it does not take, a pattern that is none. What the
            checker itself raises passes.
    """
    function = find_checker(name)
    try:
        _signature(function).bind(evidence, **parameters)
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


@dataclass(frozen=True)
class Parameter:
    """A parameter of a checker. `default` is its value in JSON's words, None where a rule must give one."""

    name: str
    type: str
    default: Any
    required: bool


@dataclass(frozen=True)
class KnownChecker:
    """A checker as rules name it; `meaning` is the first sentence of its documentation."""

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]


def known_gates(line: str) -> tuple[GateSpec, ...]:
    """Return the gates of a line, in order, its checkers registered on return; none where the line says
    nothing of its gates, or is none."""
    spec = lines().get(line)
    gates = tuple(spec.gates.load()) if spec is not None and spec.gates else ()
    for module in (
        *(spec.checkers if spec else ()),
        *(gate.collect.module for gate in gates if isinstance(gate.collect, Lazy)),
    ):
        import_module(module)
    return gates


def known_checkers(line: str) -> dict[str, KnownChecker]:
    """Return name -> checker of a line, by name."""
    known_gates(line)
    return {name: _described(name) for name in sorted(CHECKERS) if name.startswith(f"{line}.")}


def _described(name: str) -> KnownChecker:
    function = CHECKERS[name]
    _, *parameters = inspect.signature(function).parameters.values()  # the first is the evidence
    meaning = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    return KnownChecker(
        name,
        meaning,
        tuple(
            Parameter(
                p.name, str(p.annotation), None if p.default is p.empty else p.default, p.default is p.empty
            )
            for p in parameters
        ),
    )


def require_known(line: str, rules: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> None:
    """Check that a line has what its rules name. rules: file, gate, checker and parameters of each.

    Raises:
        InputError: a gate, a checker or a parameter that there is not, or a parameter that lacks.
    """
    if not (gates := [gate.name for gate in known_gates(line)]):
        return
    checkers = known_checkers(line)
    for file, gate, check, parameters in rules:
        if gate not in gates:
            raise near(f"rule file {file}: the line {line} has no gate {gate!r}", gate, gates)
        if check not in checkers:
            raise near(f"rule file {file}: no checker is called {check!r}", check, checkers)
        takes = {parameter.name: parameter for parameter in checkers[check].parameters}
        for name in parameters:
            if name not in takes:
                raise near(f"rule file {file}: checker {check} has no parameter {name!r}", name, takes)
        if lacking := [
            name for name, parameter in takes.items() if parameter.required and name not in parameters
        ]:
            raise InputError(
                f"rule file {file}: checker {check} needs {', '.join(lacking)}",
                wanted=f'parameters: {{"{lacking[0]}": ...}}',
                do=f"evolake rules checkers --line {line} says what each is",
            )


def near(what: str, name: str, known: Collection[str]) -> InputError:
    """Return the error for a name that is not known: lists those that are, and the one most like it."""
    close = get_close_matches(name, known, n=1)
    do = (f"did you mean {close[0]!r}? " if close else "") + "`evolake rules checkers` lists them"
    return InputError(what, wanted=f"one of {', '.join(known)}" if known else "none", got=repr(name), do=do)
