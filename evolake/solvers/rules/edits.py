"""The checkers that learned rules may name. Each takes parameters, so that a rule writer chooses a pattern
and never writes code.

    solvers.forbidden_pattern   an added fact of the syntax tree that looks so: {"kind": "call", "name":
                                "reduceDB", "function": "search"}
    solvers.option_bound        a declared option's default is within bounds: {"option": "var-decay",
                                "least": 0.7, "most": 0.999}
    solvers.forbidden_edit      an edit of the catalogue, or of a tunable, is not used, or not within these
                                ranges
    solvers.kept_edit           a child keeps an edit that its parent carries

They read `evidence["source"]` (Additions), `evidence["edits"]` (the variant's edits.json, empty for a variant
made by diffs), `parent_edits` (one list a parent) and `base` (the name of the seed). All are stored, so a
rule can be replayed on every variant there has been.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.errors import InputError
from evolake.gates import Finding, checker

# Their docstrings are a part of what the analyst is asked, hence of keys of the call cache: no word of them
# may change.
LEARNED_CHECKERS = (
    "solvers.forbidden_pattern",
    "solvers.option_bound",
    "solvers.forbidden_edit",
    "solvers.kept_edit",
)
PATTERN_FIELDS = ("name", "text", "function", "file")
LONGEST_PATTERN = 200
MOST_REPETITIONS = 3
Bounds = tuple[float | None, float | None] | Sequence[float | None]


@checker("solvers.forbidden_pattern")
def forbidden_pattern(
    evidence: Mapping[str, Any],
    *,
    kind: str,
    name: str = "",
    text: str = "",
    function: str = "",
    file: str = "",
    base: str = "",
    removed: bool = False,
) -> Finding | None:
    """No added fact (removed: no fact taken away) of `kind` whose fields match all the regular expressions
    given. `base`: only variants of that seed.

    Raises:
        InputError: a regular expression that cannot be used, or none at all.
    """
    wanted = {
        field: _compiled(pattern)
        for field, pattern in zip(PATTERN_FIELDS, (name, text, function, file), strict=True)
        if pattern
    }
    if not wanted:
        raise InputError(
            "a forbidden pattern that matches everything",
            wanted=f"at least one of {', '.join(PATTERN_FIELDS)}",
        )
    if base and evidence["base"] != base:
        return None
    for row in evidence["source"]["removed" if removed else "added"]:
        if row["kind"] == kind and all(pattern.search(str(row[field])) for field, pattern in wanted.items()):
            way = "takes away" if removed else "adds"
            return Finding(
                f"{way} {kind} {(row['text'] or row['name'])!r} in {row['function'] or row['file']}, "
                "which a rule forbids"
            )
    return None


@checker("solvers.option_bound")
def option_bound(
    evidence: Mapping[str, Any],
    *,
    option: str,
    least: float | None = None,
    most: float | None = None,
    base: str = "",
) -> Finding | None:
    """The default of `option` is a number within the bounds. A variant without that option passes."""  # noqa: D401
    default = evidence["source"]["options"].get(option)
    if default is None or (base and evidence["base"] != base):
        return None
    value = _number(default)
    return (
        None
        if value is None or _within(value, (least, most))
        else Finding(f"option {option} defaults to {default}; {_said(least, most)}")
    )


@checker("solvers.forbidden_edit")
def forbidden_edit(
    evidence: Mapping[str, Any], *, edit: str, parameters: Mapping[str, Bounds] | None = None, base: str = ""
) -> Finding | None:
    """No edit called `edit` whose parameters all lie within the ranges given (no ranges: not at all)."""
    if base and evidence["base"] != base:
        return None
    for made in evidence["edits"]:
        if made["name"] == edit and _matches(made.get("parameters", {}), parameters or {}):
            return Finding(f"edit {edit} with {made.get('parameters', {})}, which a rule forbids")
    return None


@checker("solvers.kept_edit")
def kept_edit(evidence: Mapping[str, Any], *, edit: str, base: str = "") -> Finding | None:
    """A child of a parent that carries `edit` carries it too. A variant that is no child by edits passes."""  # noqa: D401
    if base and evidence["base"] != base:
        return None
    carried = any(made["name"] == edit for edits in evidence["parent_edits"] for made in edits)
    kept = any(made["name"] == edit for made in evidence["edits"])
    return (
        Finding(f"drops the edit {edit} of its parent, which a learned rule keeps")
        if carried and not kept
        else None
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATTERN:
        raise InputError(
            "a pattern that is too long",
            wanted=f"at most {LONGEST_PATTERN} characters",
            got=f"{len(pattern)}",
        )
    if re.search(r"\)\s*[*+{?]", pattern):
        raise InputError(
            f"the pattern {pattern!r} repeats a group, which can take forever",
            do="write it without a repeated group",
        )
    if len(re.findall(r"[*+{]", pattern)) > MOST_REPETITIONS:
        raise InputError(
            f"the pattern {pattern!r} has too many repetitions", wanted=f"at most {MOST_REPETITIONS}"
        )
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(f"the pattern {pattern!r} is no regular expression", got=str(error)) from None


def _matches(values: Mapping[str, Any], ranges: Mapping[str, Bounds]) -> bool:
    """Return whether every range holds its parameter; a value that is no number is compared as text with the
    range's first bound."""
    for name, bounds in ranges.items():
        if len(bounds) != 2:
            raise InputError(
                f"range of {name}", wanted="[least, most], null for an open end", got=repr(bounds)
            )
        value = _number(values.get(name))
        if value is None:
            if str(values.get(name)) != str(bounds[0]):
                return False
        elif not _within(value, bounds):
            return False
    return True


def _within(value: float, bounds: Bounds) -> bool:
    least, most = bounds
    return (least is None or value >= float(least)) and (most is None or value <= float(most))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _said(least: float | None, most: float | None) -> str:
    parts = [
        f"{word} {bound:g}" for word, bound in (("at least", least), ("at most", most)) if bound is not None
    ]
    return f"{' and '.join(parts)} is wanted"
