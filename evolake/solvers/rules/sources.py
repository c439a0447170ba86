"""Checkers of a variant's repository and of the code that it adds to its base: layout, documents and files
that may not change; processes, network, files, clocks, instance tables, static state, answers, proofs;
spellings that hide, switches of the compiler, assembler, and data.

All that look at code read `evidence["source"]`, the JSON of `Additions`: its facts, its `tokens` (rows of
`lexical_additions`), `data` (its sums) and `unread` (files that are too large or nest too deep). A finding
names the first place in the order of files and lines, and how many there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatch
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


WORDS = {
    "string_bytes": "{got} bytes of string literals",
    "escapes": "{got} bytes written as numbers in string literals",
    "number_bits": "{got} bits in number and character literals",
    "longest_string": "a string literal of {got} characters",
    "longest_run": "a string of {got} characters without a space",
    "longest_word": "a name or number of {got} characters",
    "tokens": "{got} tokens of code",
    "longest_list": "a list of {got} numbers",
}


@checker("solvers.token_facts")
def token_facts(evidence: Row, *, what: str, kinds: Sequence[str], allowed: str = "") -> Finding | None:
    """No added token of one of `kinds` (see `lexical_additions`), but for those whose name matches `allowed`,
    a regular expression, as a whole."""
    fine = re.compile(allowed) if allowed else None
    result = [
        row
        for row in evidence["source"]["tokens"]
        if row["kind"] in kinds and not (fine and fine.fullmatch(row["name"]))
    ]
    if not result:
        return None
    row = min(result, key=lambda row: (row["file"], row["line"], row["name"]))
    more = f", and {len(result) - 1} more" if len(result) > 1 else ""
    place = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
    return Finding(f"{what}: {row['name']!r} added in {place}{more}")


@checker("solvers.added_data")
def added_data(evidence: Row, *, most: Mapping[str, int]) -> Finding | None:
    """Check that what the sources add to those of the base holds at most so much data, by the sums of
    `lexical_additions`."""
    data = evidence["source"]["data"]
    for name, limit in most.items():
        if data[name] > limit:
            return Finding(
                f"adds {WORDS[name].format(got=data[name])}; at most {limit} are taken: what a search "
                "needs is code, not data"
            )
    return None


@checker("solvers.readable")
def readable(evidence: Row) -> Finding | None:
    """Every changed source file can be read by these rules: neither too large nor nested too deep."""
    unread = evidence["source"]["unread"]
    more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
    return Finding(f"cannot be read: {unread[0]}{more}") if unread else None


NAMED = 3


@checker("solvers.layout")
def layout(evidence: Mapping[str, Any]) -> Finding | None:
    """Check that the folder is laid out as a variant's repository."""
    problems = evidence["layout"]
    return Finding(f"layout: {_listed(problems)}") if problems else None


@checker("solvers.documents")
def documents(evidence: Mapping[str, Any], *, least: Mapping[str, int]) -> Finding | None:
    """Each document of `least` is there with at least so many characters, white space not counted."""
    for name, wanted in least.items():
        result = evidence["documents"].get(name)
        if result is None:
            return Finding(f"{name} is missing")
        if result < wanted:
            return Finding(f"{name} has {result} characters; at least {wanted} are wanted")
    return None


@checker("solvers.frozen_files")
def frozen_files(evidence: Mapping[str, Any], *, globs: Sequence[str]) -> Finding | None:
    """Files that match `globs` are those of the base, and nothing that is added is a binary or a link."""
    source = evidence["source"]
    if source["binary"]:
        return Finding(f"holds files that are no text: {_listed(source['binary'])}")
    changed = [path for path in source["others"] if any(fnmatch(path, pattern) for pattern in globs)]
    return Finding(f"changes files that are the pipeline's: {_listed(changed)}") if changed else None


@checker("solvers.only_sources")
def only_sources(
    evidence: Mapping[str, Any], *, names: str, lines: Sequence[str] = (), endings: Sequence[str] = ()
) -> Finding | None:
    """Check that what a variant changes are its sources in C and C++, and nothing else that a build reads.

    names: a regular expression of what a changed path may be as a whole: make and a shell read a name too.
    lines: regular expressions that no added line of a build file matches; they name the cause. endings: of
    files that no tree may add whatever they hold (objects, archives).
    """
    source = evidence["source"]
    touched = sorted({*source["changed"], *source["new"], *source["others"]})
    fits = re.compile(names)
    if odd := [path for path in touched if not fits.fullmatch(path)]:
        return Finding(f"has a file whose name a build may read as more than a name: {odd[0]!r}")
    if made := [path for path in touched if path.endswith(tuple(endings))]:
        return Finding(f"adds what a compiler or an archiver makes: {_listed(made)}")
    patterns = [re.compile(pattern) for pattern in lines]
    opened = set(evidence.get("build_files", ()))  # which a rule of their own judges
    for row in (row for row in source["lines"] if row["file"] not in opened):
        if result := next((match for pattern in patterns if (match := pattern.search(row["text"]))), None):
            return Finding(
                f"a build does more than compile sources: {result[0].strip()!r} added in "
                f"{row['file']}:{row['line']}"
            )
    others = [path for path in source["others"] if path not in source["binary"] and path not in opened]
    return Finding(f"changes files that are no sources in C or C++: {_listed(others)}") if others else None


def _listed(items: Sequence[str]) -> str:
    more = f", and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more
