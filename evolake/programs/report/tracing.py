"""The lineage of lines: who brought each line of a program (`blame_rows`), and does evolution go in circles
(`trace_of`)? The latter is the share of added lines that bring back a line which the lineage had deleted
before (EvoTrace's measure).

Of a child, added lines are those that none of its parents has, and deleted ones those of its first parent
that it has not. A line counts as brought back where a program that the child descends from had deleted it.
Lines are compared without space at their ends; empty ones do not count. Source: EvoTrace, a study of the
edits of program-evolving agents, measures cycling so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from evolake.report.numbers import figures
from evolake.text_edits import BOM
from evolake.text_edits import lines_of as lines_with_ends

Row = Mapping[str, Any]
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Edit:
    """What one child changed: counts of lines, and those of the added ones that had been deleted before, in
    order."""

    program_id: str
    operator: str
    state: str
    added: int
    deleted: int
    brought_back: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """The edits of one project, in the order of birth. champion: those on the champion's own lineage."""

    project: str
    edits: tuple[Edit, ...]
    champion: tuple[Edit, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        operators = sorted({edit.operator for edit in self.edits})
        return {
            "project": self.project,
            **counts(self.edits),
            "champion_lineage": counts(self.champion),
            "by_operator": {
                name: counts([edit for edit in self.edits if edit.operator == name]) for name in operators
            },
            "most_often": [{"line": line, "times": times} for line, times in most_often(self.edits)],
        }


def trace_of(project: str, rows: Sequence[Row], champion: str, read: Callable[[Row], Texts]) -> Trace:
    """Return the edits of a project.

    Args:
        rows: of PROGRAMS, of one project, every one of them. champion: its id. read: row -> its texts.
    """
    known = {row["program_id"]: row for row in rows}
    lines: dict[str, Counter[str]] = {}
    gone: dict[str, frozenset[str]] = {}
    edits: dict[str, Edit] = {}
    for row in sorted(rows, key=lambda row: row["number"]):
        name, own = row["program_id"], lines_in(read(row))
        lines[name] = own
        parents = [parent for parent in row["parents"] if parent in lines]
        if not parents:
            gone[name] = frozenset()
            continue
        before = frozenset[str]().union(*(gone[parent] for parent in parents))
        most = Counter[str]()
        for parent in parents:
            most |= lines[parent]
        added, deleted = own - most, lines[parents[0]] - own
        brought = tuple(line for line in sorted(added.elements()) if line in before)
        edits[name] = Edit(name, row["operator"], row["state"], added.total(), deleted.total(), brought)
        gone[name] = before | deleted.keys()
    return Trace(
        project,
        tuple(edits.values()),
        tuple(edits[name] for name in edits if name in lineage(champion, known)),
    )


def lines_in(texts: Texts) -> Counter[str]:
    """Return line -> how often it is in the texts."""
    return Counter(line for text in texts.values() for full in text.splitlines() if (line := full.strip()))


def lineage(program: str, known: Mapping[str, Row]) -> set[str]:
    """Return the program and all that it descends from."""
    result: set[str] = set()
    waiting = [program]
    while waiting:
        name = waiting.pop()
        if name in known and name not in result:
            result.add(name)
            waiting += known[name]["parents"]
    return result


def counts(edits: Iterable[Edit]) -> dict[str, Any]:
    """Return children, added, deleted and brought-back lines, and the share of the latter in the added ones;
    null without an added line."""
    some = list(edits)
    added, back = sum(edit.added for edit in some), sum(len(edit.brought_back) for edit in some)
    return {
        "children": len(some),
        "added": added,
        "deleted": sum(edit.deleted for edit in some),
        "brought_back": back,
        "share": back / added if added else None,
    }


def most_often(edits: Iterable[Edit], most: int = 5) -> list[tuple[str, int]]:
    """Return the lines that came back most often."""
    times = Counter(line for edit in edits for line in edit.brought_back)
    return sorted(times.items(), key=lambda item: (-item[1], item[0]))[:most]


def lines_of(trace: Trace) -> list[str]:
    """For people."""
    summary = trace.to_json()

    def sentence(item: Mapping[str, Any]) -> str:
        share = (
            "no line was added"
            if item["share"] is None
            else f"{item['share']:.1%} of {item['added']} added lines had been deleted before"
        )
        return f"{share} ({item['children']} children)"

    shown = [
        f"{trace.project}: {sentence(summary)}",
        f"  {'champion':<18} {sentence(summary['champion_lineage'])}, on its own lineage",
    ]
    shown += [f"  {name:<18} {sentence(item)}" for name, item in summary["by_operator"].items()]
    return shown + [f"  {item['times']} times   {item['line'][:100]}" for item in summary["most_often"]]


NUMBERS = re.compile(r"(?=.*(?:\d|True|False))(?:[\s\d.,eE+\-\[\](){}]|True|False|None)+")
"""A line of nothing but literals: several of one origin in a row are one range, such as a lifted value."""


def blame_rows(
    program: Row, known: Mapping[str, Row], read: Callable[[Row], Texts], *, higher_is_better: bool
) -> list[dict[str, Any]]:
    """Return rows of BLAME of a program, without a cycle: the lines of its files in order, each with the
    program of its lineage that brought it.

    A line that a program has from a parent, at its place among the lines around it, is the parent's; of two
    parents that have it, the first one's. Space at its end does not count.

    Args:
        known: all programs of the project by id. read: row -> its texts.
    """
    origins: dict[str, dict[str, list[str]]] = {}
    held: dict[str, dict[str, list[str]]] = {}
    for name in sorted(lineage(program["program_id"], known), key=lambda name: known[name]["number"]):
        held[name] = {file: _bare_lines(text) for file, text in read(known[name]).items()}
        origins[name] = {file: [name] * len(lines) for file, lines in held[name].items()}
        for parent in reversed([parent for parent in known[name]["parents"] if parent in held]):
            for file, lines in held[name].items():
                before = held[parent].get(file, [])
                for block in SequenceMatcher(None, before, lines, autojunk=False).get_matching_blocks():
                    taken = origins[parent].get(file, [])[block.a : block.a + block.size]
                    origins[name][file][block.b : block.b + block.size] = taken
    sign = 1 if higher_is_better else -1
    rows: list[dict[str, Any]] = []
    own = program["program_id"]
    for file, lines in held[own].items():
        numbered = list(enumerate(zip(lines, origins[own][file], strict=True), 1))
        for _, some in groupby(numbered, _range_key):
            part = list(some)
            origin = known[part[0][1][1]]
            rows.append(
                {
                    "project": program["project"],
                    "program_id": own,
                    "file": file,
                    "line": part[0][0],
                    "last_line": part[-1][0],
                    "text": "\n".join(line for _, (line, _) in part),
                    "origin_id": origin["program_id"],
                    "made_in": origin["cycle"],
                    "operator": origin["operator"],
                    "backend": origin["origin"] if origin["parents"] else None,
                    "idea": origin["idea"],
                    "gain": _gain(origin, known, sign),
                }
            )
    return rows


def _bare_lines(text: str) -> list[str]:
    return [line.rstrip() for line in lines_with_ends(text.removeprefix(BOM))]


def _range_key(item: tuple[int, tuple[str, str]]) -> tuple[str, int]:
    """Return the same for lines of literals of one origin that follow each other, and another for any
    other."""
    number, (line, origin) = item
    return origin, 0 if NUMBERS.fullmatch(line) else number


def _gain(row: Row, known: Mapping[str, Row], sign: int) -> float | None:
    parent = known.get(row["parents"][0]) if row["parents"] else None
    if parent is None or row["score"] is None or parent["score"] is None:
        return None
    return sign * (row["score"] - parent["score"])


def blame_cells(rows: Sequence[Row]) -> list[list[str]]:
    """Return lines, program, cycle, what made it, its gain and the text, for people; of a range its first
    line."""
    return [
        [
            f"{row['line']}" if row["line"] == row["last_line"] else f"{row['line']}-{row['last_line']}",
            row["origin_id"][:12],
            row["made_in"],
            row["operator"],
            "" if row["gain"] is None else f"{'+' if row['gain'] > 0 else ''}{figures(row['gain'], 4)}",
            row["text"].split("\n")[0] + (" ..." if row["line"] < row["last_line"] else ""),
        ]
        for row in rows
    ]
