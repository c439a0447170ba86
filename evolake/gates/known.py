"""What a rule of an installed line may name: the line's gates, its checkers, and the parameters of each
checker."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from evolake.errors import InputError
from evolake.gate_spec import GateSpec
from evolake.gates.checkers import CHECKERS
from evolake.lazy import Lazy
from evolake.lines import lines


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
