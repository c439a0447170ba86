"""Checkers of code that a variant adds to its base: processes, network, files, clocks, instance tables,
static state, answers, proofs.

All read `evidence["source"]`, the JSON of `Additions`. A finding names the first place in the order of files
and lines, and how many there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evolake.gates import Finding, checker

Row = Mapping[str, Any]


@checker("solvers.forbidden_code")
def forbidden_code(
    evidence: Row,
    *,
    what: str,
    calls: Sequence[str] = (),
    names: Sequence[str] = (),
    includes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    lines: Sequence[str] = (),
) -> Finding | None:
    """No added call of a function of `calls`, no name of `names`, no header of `includes`, no fact of
    `kinds`, no build line that matches `lines`.

    what: what such code does, for the reason. `calls` are free functions, methods of that name apart; `lines`
    are regular expressions.
    """
    wanted_calls, wanted_names = set(calls), set(names)
    headers = {f"<{name}>" for name in includes} | {f'"{name}"' for name in includes}

    def hit(row: Row) -> bool:
        kind, name = row["kind"], row["name"]
        return (
            (kind == "call" and name in wanted_calls)
            or (kind == "name" and name in wanted_names)
            or (kind == "include" and name in headers)
            or kind in kinds
        )

    if finding := _first(evidence, hit, what):
        return finding
    patterns = [re.compile(pattern) for pattern in lines]
    for row in evidence["source"]["lines"]:
        if result := next((match for pattern in patterns if (match := pattern.search(row["text"]))), None):
            return Finding(f"{what}: {result[0].strip()!r} added in {row['file']}:{row['line']}")
    return None


@checker("solvers.allowed_headers")
def allowed_headers(evidence: Row, *, headers: Sequence[str]) -> Finding | None:
    """Every header that is added between angle brackets is one of `headers`; every added quoted one is a
    source file of the tree."""
    allowed = {f"<{name}>" for name in headers}

    def hit(row: Row) -> bool:
        return row["kind"] == "include" and (
            row["name"] not in allowed
            if row["name"].startswith("<")
            else not row["name"].endswith(_HEADER_ENDS)
        )

    return _first(evidence, hit, "uses a library from outside the standard")


_HEADER_ENDS = ('.h"', '.hh"', '.hpp"', '.hxx"', '.H"')


@checker("solvers.instance_tables")
def instance_tables(evidence: Row, *, sizes: str, least: int, numbers: int) -> Finding | None:
    """No equality of a formula's size with a number of at least `least`, and no table of more than `numbers`
    numbers.

    sizes: a regular expression of what a formula's size looks like ("nVars", "nClauses").
    """
    looks = re.compile(sizes)

    def pinned(row: Row) -> bool:
        return row["kind"] == "equals" and bool(looks.search(row["text"])) and _number(row["name"]) >= least

    def table(row: Row) -> bool:
        return row["kind"] == "number-array" and int(row["name"]) > numbers

    return _first(evidence, pinned, "decides by a formula's exact size") or _first(
        evidence, table, "holds a table of numbers"
    )


@checker("solvers.static_state")
def static_state(evidence: Row, *, exempt_types: Sequence[str] = ()) -> Finding | None:
    """No mutable state that outlives a call: static variables and variables at file scope, unless constant or
    of an exempt type."""
    return _first(
        evidence,
        lambda row: (
            row["kind"] == "static"
            and not any(re.search(rf"\b{re.escape(name)}\b", row["text"]) for name in exempt_types)
        ),
        "adds mutable static state",
    )


@checker("solvers.one_solver")
def one_solver(evidence: Row, *, types: Sequence[str]) -> Finding | None:
    """No further solver object: a run is one sequential search, no portfolio."""
    names = "|".join(map(re.escape, types))
    made = re.compile(
        rf"\bnew\s+(\w+::)*({names})\b|^(static\s+|const\s+)*(\w+::)*({names})\s+\w+\s*[;({{=\[,]"
    )
    return _first(
        evidence,
        lambda row: row["kind"] == "object" and bool(made.search(row["text"])),
        "makes another solver (a portfolio)",
    )


@checker("solvers.answer_sites")
def answer_sites(evidence: Row, *, strings: str, calls: Sequence[str]) -> Finding | None:
    """No new place that prints an answer (`strings`, a regular expression) or ends the program (`calls`)."""
    prints = re.compile(strings)
    said = _first(
        evidence,
        lambda row: row["kind"] == "string" and bool(prints.search(row["name"])),
        "prints an answer at a new place",
    )
    return said or _first(
        evidence,
        lambda row: row["kind"] == "call" and row["name"] in calls,
        "ends the program at a new place",
    )


@checker("solvers.kept")
def kept(evidence: Row, *, kind: str, names: str, what: str) -> Finding | None:
    """Facts of `kind` whose name matches `names` are not fewer than in the base, over the whole tree: moving
    them is free, dropping is not."""
    looks = re.compile(names)
    balance: Counter[str] = Counter()
    for sign, rows in ((1, evidence["source"]["added"]), (-1, evidence["source"]["removed"])):
        for row in rows:
            if row["kind"] == kind and looks.search(row["name"]):
                balance[row["name"]] += sign * row["count"]
    lost = {name: -count for name, count in sorted(balance.items()) if count < 0}
    if not lost:
        return None
    name = next(iter(lost))
    place = next(row for row in evidence["source"]["removed"] if row["kind"] == kind and row["name"] == name)
    return Finding(f"{what}: {sum(lost.values())} uses gone, the first {name!r} in {_where(place)}")


def _first(evidence: Row, hit: Callable[[Row], bool], what: str) -> Finding | None:
    """Return the finding for the first added fact that `hit` says is wrong."""
    result = _in_order(row for row in evidence["source"]["added"] if hit(row))
    if not result:
        return None
    more = f", and {len(result) - 1} more" if len(result) > 1 else ""
    return Finding(f"{what}: {result[0]['text'] or result[0]['name']!r} added in {_where(result[0])}{more}")


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["file"], row["line"], row["kind"] == "name", row["name"]))


def _where(row: Row) -> str:
    return (
        f"{row['function']} ({row['file']}:{row['line']})"
        if row["function"]
        else f"{row['file']}, outside its functions"
    )


def _number(text: str) -> int:
    """Return a C number literal as an integer; -1 where it is none."""
    try:
        return int(text.rstrip("uUlL").replace("'", ""), 0)
    except ValueError:
        return -1
