"""`evolake sql --list`: the questions that are ready, then macros and tables with what they hold."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.lake import Catalogue
    from evolake.lake.catalogue import Result

Row = tuple[str, str]
NAME_WIDTH = 34
SHARED_HOLD = {
    "agent_calls": "calls of roles, operators' and models': what was asked, its tokens, price and how it went",  # noqa: E501
    "artifacts": "every artifact in each state that it came to, the blocked too",
    "champions": "who held the title of a line after a cycle, with its score",
    "derivations": "who was made from whom, by which operator, with which share",
    "evaluations": "measured runs: status, processor time, counters, certificate",
    "parts": "the files of the lake: rows, hash, run",
    "rules": "versions of rules and since which cycle they hold",
    "seals": "which population entered which cycle, and on what it was built",
    "session_turns": "turns of agents' sessions with tools",
    "verdicts": "what each gate and rule said of each artifact, and why",
}
"""What a table of all lines holds."""


def rows_of(catalogue: Catalogue, cookbooks: Sequence[Path]) -> Result:
    """Return all that can be named, questions first: what it is, its name, and its columns or the question
    that it answers."""
    from evolake.lake.catalogue import Result

    rows: list[tuple[Any, ...]] = [("file", name, question) for name, question, _ in _questions(cookbooks)]
    rows += [("macro", name, question) for name, question in _macros()]
    rows += [("table", name, ", ".join(columns)) for name, columns in catalogue.views()]
    return Result(["what", "name", "columns or question"], ["VARCHAR"] * 3, rows)


def page_of(catalogue: Catalogue, cookbooks: Sequence[Path]) -> str:
    """Return the same for people, as wide as the terminal: tables of single assets (`__`), of what enters and
    of superseded rows are only counted."""
    width = shutil.get_terminal_size((100, 24)).columns
    names = [name for name, _ in catalogue.views()]
    shown = [name for name in names if not _left_out(name)]
    parts = ["Questions: evolake sql --file NAME [-p PARAMETER=VALUE]..."]
    parts += _listed(
        (
            (name, f"{question} (-p {', '.join(needs)})" if needs else question)
            for name, question, needs in _questions(cookbooks)
        ),
        width,
    )
    parts += ["", "Macros, to be used as FROM funnel('designs')", *_listed(_macros(), width)]
    views = _views()
    parts += [
        "",
        "Tables of all lines",
        *_listed(
            ((name, SHARED_HOLD.get(name) or views.get(name, "")) for name in shown if "." not in name), width
        ),
    ]
    for line, own in groupby(
        (name for name in shown if "." in name), key=lambda name: name.partition(".")[0]
    ):
        parts += ["", f"Tables of {line}", *_listed(_tables(catalogue, line, list(own)), width)]
    more = counted(len(names) - len(shown), "further table")
    text = (
        f"`evolake sql --schema TABLE` says what its columns are. {more}: <table>_all has superseded rows "
        "too, <line>.incoming_<table> what "
        "entered a cycle, <line>.<asset>__<table> what one asset put into a table of all lines; `evolake "
        "sql --list --json` names every table with its columns."
    )
    return "\n".join([*parts, "", *textwrap.wrap(text, width)])


def _listed(rows: Iterable[Row], width: int) -> Iterator[str]:
    """Names with what is said of them next to it, or below a name that is too long."""
    for name, summary in rows:
        lines = textwrap.wrap(summary, max(width - NAME_WIDTH, 20)) or [""]
        if len(name) + 2 < NAME_WIDTH:
            yield f"  {name}".ljust(NAME_WIDTH) + lines.pop(0)
        else:
            yield f"  {name}"
        yield from (" " * NAME_WIDTH + line for line in lines)


def _left_out(name: str) -> bool:
    asset = name.rpartition(".")[2]
    return "__" in asset or (asset.startswith("incoming_") if "." in name else asset.endswith("_all"))


def _questions(cookbooks: Sequence[Path]) -> Iterator[tuple[str, str, list[str]]]:
    """(name, question, parameters) of every file."""
    for folder in cookbooks:
        for path in sorted(folder.glob("*.sql")):
            text = path.read_text()
            statement = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
            yield (
                f"cookbook/{path.name}",
                _first_comment(text),
                list(dict.fromkeys(re.findall(r"\$(\w+)", statement))),
            )


def _macros() -> Iterator[Row]:
    from evolake.lake.catalogue import SQL_ROOT

    for path in sorted((SQL_ROOT / "lineage").glob("*.sql")):
        text = path.read_text()
        signature = re.search(r"MACRO\s+(\w+\([^)]*\))", text)
        yield signature[1] if signature else path.stem, _first_comment(text)


def _views() -> dict[str, str]:
    from evolake.lake.catalogue import SQL_ROOT

    return {path.stem: _first_comment(path.read_text()) for path in (SQL_ROOT / "views").glob("*.sql")}


def _first_comment(text: str) -> str:
    return text.partition("\n")[0].removeprefix("--").strip()


def _tables(catalogue: Catalogue, line: str, names: Sequence[str]) -> Iterator[Row]:
    """Each with what names a row of it, how many rows there are and in how many cycles."""
    from evolake.cli.sql_columns import schema_of

    sizes = (
        "SELECT asset, sum(rows)::BIGINT, count(DISTINCT cycle) FROM parts WHERE line = $line AND state = "
        "'current' GROUP BY asset"
    )
    held = {asset: (rows, cycles) for asset, rows, cycles in catalogue.query(sizes, {"line": line}).rows}
    for name in names:
        schema = schema_of(name)
        rows, cycles = held.get(name.partition(".")[2], (0, 0))
        keys = (
            [*(["cycle"] if cycles else []), *(key for key in schema.keys if key != "cycle")]
            if schema
            else []
        )
        each = f", one per {', '.join(keys)}" if keys else ""
        within = f" in {counted(cycles, 'cycle')}" if cycles else ""
        yield name, f"{counted(rows, 'row')}{within}{each}"
