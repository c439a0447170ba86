"""A problem of the study: integer variables with explicit domains, linear constraints over them, and what an
assignment violates.

A file has one JSON object a line:

    {"id": "lin-0127", "variables": {"x1": [0, 9], "x2": [0, 9]}, "label": "unsat", "seed": 7,
     "constraints": [{"id": "c1", "coef": {"x1": 1, "x2": 4}, "op": ">=", "rhs": 23}]}

`label` and `seed` may be absent. A domain whose low end is above its high end is legal: no value fits it. A
bound of a variable is named `dom:x1`.

A candidate is exactly `{"status": "sat", "assignment": {x: int, ...}}` with every variable, or exactly
`{"status": "unsat"}`. Anything else is `Malformed`: a value, because it says something about the candidate.
It consumes the attempt like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import Unreadable, parse_json, read_text, reason, unique_keys

OPS = ("<=", ">=", "=")
LABELS = ("sat", "unsat")
DOMAIN_MARK = "dom:"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_ID = re.compile(r"[A-Za-z0-9_.~-]{1,80}")

Assignment = Mapping[str, int]


@dataclass(frozen=True)
class Variable:
    """An integer variable with its domain `low`..`high`, both ends included."""

    name: str
    low: int
    high: int

    @property
    def bound_id(self) -> str:
        """What its bound is called in cores and in lists of violations."""
        return DOMAIN_MARK + self.name


@dataclass(frozen=True)
class Constraint:
    """`sum coef * variable  op  rhs`. `terms`: (variable, coefficient) in the order given."""

    id: str
    terms: tuple[tuple[str, int], ...]
    op: str
    rhs: int

    def value(self, assignment: Assignment) -> int:
        """Return the left-hand side under an assignment of its variables."""
        return sum(factor * assignment[name] for name, factor in self.terms)

    def holds(self, assignment: Assignment) -> bool:
        """Return whether the assignment satisfies it; exact integer arithmetic."""
        value = self.value(assignment)
        if self.op == "<=":
            return value <= self.rhs
        if self.op == ">=":
            return value >= self.rhs
        return value == self.rhs


@dataclass(frozen=True)
class Problem:
    """A linear integer feasibility problem. `label` is what the generator's two certifiers found, or None."""

    id: str
    variables: tuple[Variable, ...]
    constraints: tuple[Constraint, ...]
    label: str | None = None
    seed: int | None = None

    def violated(self, assignment: Assignment) -> list[str]:
        """Return ids of all constraints, then of all bounds, that a total assignment breaks, by plain
        evaluation."""
        broken = [item.id for item in self.constraints if not item.holds(assignment)]
        return broken + [
            item.bound_id for item in self.variables if not item.low <= assignment[item.name] <= item.high
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form; `problem_of` reads it."""
        shown: dict[str, Any] = {
            "id": self.id,
            "variables": {item.name: [item.low, item.high] for item in self.variables},
            "constraints": [
                {"id": item.id, "coef": dict(item.terms), "op": item.op, "rhs": item.rhs}
                for item in self.constraints
            ],
        }
        return shown | {
            name: value for name, value in (("label", self.label), ("seed", self.seed)) if value is not None
        }

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.as_dict(), separators=(",", ":"))


def read_problem(path: Path) -> Problem:
    """Return the problem of a JSON file. Raises InputError as `parse_problem` does."""
    return parse_problem(_read(path), where=str(path))


def parse_problem(text: str, *, where: str = "the problem") -> Problem:
    """Return a problem from its JSON form.

    Raises:
        InputError: not JSON, or not such an object; `where` says whose.
    """
    try:
        value = parse_json(text, name=where, pairs=unique_keys)
    except ValueError as error:
        raise InputError(
            f"{where} is not JSON", wanted="one object", got=reason(error)[:200], do="fix the file"
        ) from None
    return problem_of(value, where=where)


def problem_of(value: Any, *, where: str = "the problem") -> Problem:
    """Return a problem from decoded JSON. Raises InputError as `parse_problem` does."""
    if not isinstance(value, dict):
        raise _refusal(where, "no problem", "a JSON object", value)
    name = value.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise _refusal(where, "`id` cannot be used", "letters, digits and _.~-", name)
    variables = _variables(value.get("variables"), where)
    listed = value.get("constraints")
    if not isinstance(listed, list):
        raise _refusal(where, "`constraints` cannot be used", "a list", listed)
    names = {item.name for item in variables}
    constraints = tuple(
        _constraint(item, names, f"{where}, constraint {place}") for place, item in enumerate(listed, 1)
    )
    ids = [item.id for item in constraints]
    if twice := [item for place, item in enumerate(ids) if item in ids[:place]]:
        raise _refusal(where, "two constraints bear one id", "a separate id for each constraint", twice[0])
    label, seed = value.get("label"), value.get("seed")
    if label not in (None, *LABELS):
        raise _refusal(where, "`label` cannot be used", "sat or unsat", label)
    if seed is not None and not is_int(seed):
        raise _refusal(where, "`seed` cannot be used", "an integer", seed)
    return Problem(name, variables, constraints, label, seed)


def _variables(domains: Any, where: str) -> tuple[Variable, ...]:
    if not isinstance(domains, dict) or not domains:
        raise _refusal(where, "`variables` cannot be used", 'an object such as {"x1": [0, 9]}', domains)
    variables = []
    for name, domain in domains.items():
        if not _NAME.fullmatch(name):
            raise _refusal(
                where, "a variable's name cannot be used", "a letter or _, then letters, digits and _", name
            )
        if not isinstance(domain, list) or len(domain) != 2 or not all(map(is_int, domain)):
            raise _refusal(where, f"the domain of {name} cannot be used", "[low, high], two integers", domain)
        variables.append(Variable(name, domain[0], domain[1]))
    return tuple(variables)


def _constraint(item: Any, names: set[str], where: str) -> Constraint:
    if not isinstance(item, dict):
        raise _refusal(where, "no constraint", "a JSON object", item)
    name, coef, op, rhs = item.get("id"), item.get("coef"), item.get("op"), item.get("rhs")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise _refusal(where, "`id` cannot be used", "letters, digits and _.~-", name)
    if not isinstance(coef, dict) or not all(map(is_int, coef.values())):
        raise _refusal(where, "`coef` cannot be used", "an object from variable to integer", coef)
    if stray := [variable for variable in coef if variable not in names]:
        raise _refusal(
            where,
            "`coef` names a variable that has no domain",
            f"one of {', '.join(sorted(names))}",
            stray[0],
        )
    if op not in OPS:
        raise _refusal(where, "`op` cannot be used", " ".join(OPS), op)
    if not isinstance(rhs, int) or not is_int(rhs):
        raise _refusal(where, "`rhs` cannot be used", "an integer", rhs)
    return Constraint(name, tuple(coef.items()), op, rhs)


def _refusal(where: str, what: str, wanted: str, got: Any) -> InputError:
    return InputError(f"{where}: {what}", wanted=wanted, got=repr(got)[:120], do="fix the problem")


def is_int(value: Any) -> bool:
    """Return a JSON integer: neither 3.0 nor true."""
    return isinstance(value, int) and not isinstance(value, bool)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        raise InputError(
            f"there is no file {str(path)!r}", wanted="a problem in JSON", do="check the path"
        ) from None
    except (OSError, Unreadable) as error:
        raise InputError(
            f"{str(path)!r} cannot be read", got=reason(error), do="give a readable file in UTF-8"
        ) from None


MAX_BITS = 14_000
"""Of a value: Python refuses to write, and prompts, tables and Z3's terms write, integers of more than 4,300
digits."""


@dataclass(frozen=True)
class Claim:
    """A well-formed candidate. `assignment` is None for the claim `unsat`, else it has every variable of its
    problem, in the problem's order."""

    status: str
    assignment: Mapping[str, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return (
            {"status": self.status}
            if self.assignment is None
            else {"status": self.status, "assignment": dict(self.assignment)}
        )


@dataclass(frozen=True)
class Malformed:
    """What is not a candidate, and why, in one line."""

    reason: str


UNSAT = Claim("unsat")
MOST_DIGITS = 4300
"""Of a number: a huge one is read, and refuted by the bounds of its variable."""


def parse_candidate(text: str | bytes, problem: Problem) -> Claim | Malformed:
    """Read a candidate's text strictly: JSON, one object, no key twice, no inexact forms such as 3.0 for
    3."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = parse_json(decoded, name="the candidate", digits=MOST_DIGITS, pairs=unique_keys)
    except UnicodeDecodeError:
        return Malformed("the candidate is not UTF-8 text")
    except ValueError as error:
        return Malformed(f"the candidate is not JSON: {' '.join(reason(error).split())[:200]}")
    return check_candidate(value, problem)


def check_candidate(value: Any, problem: Problem) -> Claim | Malformed:
    """Read a candidate from decoded JSON."""
    if not isinstance(value, dict):
        return Malformed(f"the candidate is a JSON {type(value).__name__}, not an object")
    status = value.get("status")
    if status not in ("sat", "unsat"):
        return Malformed(f"`status` must be sat or unsat (got {_short(status)})")
    if extra := sorted(set(value) - ({"status", "assignment"} if status == "sat" else {"status"})):
        return Malformed(f"{_short(extra[0])} does not belong in a candidate of status {status}")
    if status == "unsat":
        return UNSAT
    assignment = value.get("assignment")
    if not isinstance(assignment, dict):
        return Malformed(
            f"`assignment` must be an object from variable to integer (got {_short(assignment)})"
        )
    names = [item.name for item in problem.variables]
    if missing := [name for name in names if name not in assignment]:
        return Malformed(f"the assignment lacks {', '.join(missing[:8])}")
    if extra := sorted(set(assignment) - set(names)):
        return Malformed(f"{_short(extra[0])} is no variable of the problem")
    if odd := [name for name in names if not is_int(assignment[name])]:
        return Malformed(f"{odd[0]} must be an integer (got {_short(assignment[odd[0]])})")
    if long := [name for name in names if assignment[name].bit_length() > MAX_BITS]:
        return Malformed(f"{long[0]} has more than {MAX_BITS} bits")
    return Claim("sat", {name: assignment[name] for name in names})


def _short(value: Any) -> str:
    try:
        return json.dumps(value, default=str)[:80]
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} that cannot be shown"
