"""The candidate contract: exactly `{"status": "sat", "assignment": {x: int, ...}}` with every variable, or
exactly `{"status": "unsat"}`.

Anything else is `Malformed`: a value, because it says something about the candidate. It consumes the attempt
like any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.reading import parse_json, reason
from evolake.repair.model.problems import Problem, is_int, unique_keys

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
