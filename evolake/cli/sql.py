"""`evolake sql`: ask the lake a question, typed in or kept in a file. `--list` names the questions that are
ready, macros and tables, `--schema` the columns of one with what they mean. A statement may name the table of
a line that has not run: it is typed and empty, so that the answer is no rows."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.lake import TableSchema
from evolake.lines import lines
from evolake.reading import read_text
from evolake.report.numbers import counted
from evolake.terminal import say, say_data, say_json, say_text, visible_console
from evolake.visible import in_a_cell

if TYPE_CHECKING:
    from evolake.lake import Catalogue
    from evolake.lake.catalogue import Result


def columns_of(catalogue: Catalogue, table: str) -> Result:
    """Return one row per column: name, type in SQL, "key" where it helps to name a row, description ("" where
    its table has no schema).

    Raises:
        InputError: no such table; names close ones. CorruptPart, LakeError: as `Catalogue.query`.
    """
    from evolake.lake.catalogue import Result

    name = table.lower()
    if not re.fullmatch(r"\w+(\.\w+)?", name):
        raise InputError(
            "this is no name of a table",
            wanted="<line>.<asset>, or a view",
            got=repr(table),
            do="`evolake sql --list` names them",
        )
    columns = catalogue.query(f"DESCRIBE {name}").rows
    schema = schema_of(name)
    keys, summary = (
        (schema.keys, {column: schema.note(column) for column in schema.columns}) if schema else ((), {})
    )
    summary = _of_view(name) | summary
    rows = [
        (column, kind, "key" if column in keys else "", summary.get(column, ""))
        for column, kind, *_ in columns
    ]
    return Result(["column", "type", "key", "description"], ["VARCHAR"] * 4, rows)


def schema_of(table: str) -> TableSchema | None:
    """Return the schema of a table by the name that SQL has for it; None for a view over several, and for a
    table of free columns."""
    from evolake.lake.datasets import SEALS
    from evolake.lake.inventory import PARTS
    from evolake.lake.schemas import SHARED, shared_table_of

    line, _, asset = table.rpartition(".")
    if line:
        shared = shared_table_of(asset)
        return SHARED[shared] if shared else all_tables().get((line, asset))
    return {"parts": PARTS, "seals": SEALS, **SHARED}.get(table.removesuffix("_all"))


def _of_view(table: str) -> dict[str, str]:
    """Return what is said of columns that are no schema's own: those that the lake adds, and those of a view
    by the shared tables that it reads."""
    from evolake.lake.catalogue import SQL_ROOT
    from evolake.lake.datasets import ORIGIN
    from evolake.lake.schemas import SHARED
    from evolake.lake.vocabulary import VOCABULARY

    details = {name: VOCABULARY[name] for name in ("line", *ORIGIN.names)} | {
        "cycle": VOCABULARY["origin_cycle"]
    }
    path = SQL_ROOT / "views" / f"{table}.sql"
    words = set(re.findall(r"\w+", path.read_text())) if path.is_file() else set()
    for name, schema in SHARED.items():
        if {name, f"{name}_all"} & words:
            details |= schema.descriptions
    return details


Row = tuple[str, str]
NAME_WIDTH = 34
SHARED_HOLD = {
    "agent_calls": "calls of roles, operators' and models': what was asked, its tokens, price and how it went",  # noqa: E501
    "artifacts": "every artifact in each state that it came to, the blocked too",
    "champions": "who held the title of a line after a cycle, with its score",
    "checks": "what the checks of each asset said, and the content that they judged",
    "contest_seeds": "what the runs that decided a cycle were drawn by, published with the decision",
    "derivations": "who was made from whom, by which operator, with which share",
    "evaluations": "measured runs: status, processor time, counters, certificate",
    "parts": "the files of the lake: rows, hash, run",
    "rules": "editions of rules; which cycles each has judged: cookbook/rule_history.sql",
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


TABLE_ROWS = 1000


@click.command("sql", short_help="Run one SQL statement over the lake, read-only.")
@click.argument("statement", required=False)
@click.option(
    "--file",
    "file",
    metavar="FILE",
    help="A file with one statement: a path, or a name below the project's sql/, e.g. "
    "cookbook/funnel.sql (default: STATEMENT).",
)
@click.option(
    "-p",
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value, as text, for $NAME. May be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="Form of the output.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="Name the cookbook's questions, the macros, and the tables with what they hold.",
)
@click.option(
    "--schema",
    "table",
    metavar="TABLE",
    help="Describe this table's columns, with their units, and which ones name a row "
    "(default: run a statement).",
)
@click.option(
    "--lake",
    "lake_root",
    type=OrdinaryPath(file_okay=False),
    help="The lake's folder (default: EVOLAKE_LAKE).",
)
def sql(
    statement: str | None,
    file: str | None,
    parameters: tuple[str, ...],
    form: str,
    listing: bool,
    table: str | None,
    lake_root: Path | None,
) -> None:
    """Run one SQL statement over the lake's tables, read-only.

    \b
    evolake sql "SELECT state, count(*) FROM artifacts GROUP BY ALL"
    evolake sql --file cookbook/funnel.sql -p line=designs
    evolake sql "SELECT * FROM ancestors(\\$id)" -p id=3f2a...
    evolake sql --schema designs.final_ranking
    """
    if listing + bool(statement) + bool(file) + bool(table) != 1:
        wanted = "a statement, --file FILE, --schema TABLE or --list"
        raise InputError(
            "nothing to run, or too much", wanted=wanted, do='try: evolake sql "SELECT * FROM parts"'
        )
    text = read_statement(file) if file else statement or ""
    values = dict(_parameter(pair) for pair in parameters)
    with _open(lake_root, text, every=bool(table)) as catalogue:
        page = page_of(catalogue, _cookbooks()) if listing and form == "table" else ""
        if listing:
            result = rows_of(catalogue, _cookbooks())
        elif table:
            result = columns_of(catalogue, table)
        else:
            result = catalogue.query(text, values)
        for warning in catalogue.warnings:
            say(f"note: {warning}", err=True)
    if page:
        say_text(page)
        return
    {"table": _print_table, "csv": _print_csv, "json": _print_json}[form](result)


def _open(lake_root: Path | None, statement: str, *, every: bool) -> Catalogue:
    """Return the catalogue with the tables that the statement names, or with every table there is, typed and
    empty if nothing is published."""
    from evolake import settings
    from evolake.lake import Catalogue, Lake

    loaded = settings.load()
    root = lake_root or loaded.require_lake()
    if not (root / "tables").is_dir():
        say(f"note: the lake at {root} holds no tables yet; `evolake run` fills it", err=True)
    schemas = all_tables() if every else named_tables(statement)
    return Catalogue(Lake(root), extra_schemas=schemas, limits=loaded.sql)


def read_statement(name: str) -> str:
    """Return the text of an SQL file: at the path itself, or below the project's root or its sql/ folder.

    Raises:
        InputError: no such file; names those of the cookbook.
    """
    from evolake.lake.catalogue import SQL_ROOT

    for base in (Path(), SQL_ROOT.parent, *_cookbooks(), *(folder.parent for folder in _cookbooks())):
        for path in (base / name, base / f"{name}.sql"):
            if path.exists() and not path.is_dir():
                return read_text(path)
    known = ", ".join(
        f"cookbook/{path.name}" for folder in _cookbooks() for path in sorted(folder.glob("*.sql"))
    )
    raise InputError(
        f"there is no SQL file {name!r}",
        wanted=f"a path, or one of {known}",
        do="`evolake sql --list` says what each answers",
    )


def _cookbooks() -> list[Path]:
    """Folders of questions: evolake's own, the project's, and those of lines that bring some."""
    from evolake import project
    from evolake.lake.catalogue import SQL_ROOT
    from evolake.lines import folder_of

    places = dict.fromkeys([SQL_ROOT, (project.find() or project.BROUGHT) / "sql"])
    return [
        *(place / "cookbook" for place in places),
        *(folder_of(spec.cookbook) for spec in lines().values() if spec.cookbook),
    ]


def _parameter(pair: str) -> tuple[str, str]:
    name, mark, value = pair.partition("=")
    if not mark or not name.lstrip("$").isidentifier():
        raise InputError(
            f"parameter {pair!r} cannot be read",
            wanted="NAME=VALUE",
            got=repr(pair),
            do="write for example -p line=designs",
        )
    return name.lstrip("$"), value


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it, losing nothing: times in ISO 8601, bytes in base64, numbers that
    are not finite by name."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "NaN"
        if value > 0:
            return "Infinity"
        return "-Infinity"
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _cell(value: Any) -> str:
    plain = _plain(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _print_json(result: Result) -> None:
    say_json(
        {"verdict": "ok", "columns": result.columns, "rows": [_plain(row) for row in result.rows]},
        ensure_ascii=False,
    )


def _print_csv(result: Result) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_cell(value) for value in row] for row in result.rows)
    say_data(buffer.getvalue())


def _print_table(result: Result) -> None:
    """Print a table whose cells are whole: long ones fold onto further lines on a terminal, and are in one
    line in a log."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
    for name, kind in zip(result.columns, result.types, strict=True):
        is_number = (
            any(mark in kind for mark in numeric)
            and "[" not in kind
            and "(" not in kind.replace("DECIMAL(", "")
        )
        table.add_column(Text(in_a_cell(name)), overflow="fold", justify="right" if is_number else "left")
    for row in result.rows[:TABLE_ROWS]:
        table.add_row(*(Text(in_a_cell(_cell(value))) for value in row))
    console = visible_console(
        file=sys.stdout, width=None if sys.stdout.isatty() else 100_000, highlight=False
    )
    console.print(table)
    more = len(result.rows) - TABLE_ROWS
    shown = f"{len(result.rows)} row{'' if len(result.rows) == 1 else 's'}"
    say(f"{shown}, of which the first {TABLE_ROWS} are shown; --format csv gives all" if more > 0 else shown)


def all_tables() -> dict[tuple[str, str], TableSchema]:
    """Return (line, asset) -> schema of every table that the code knows under its own name."""
    from evolake.agents import guidance

    result = {
        (spec.name, asset): schema
        for spec in lines().values()
        if spec.tables
        for asset, schema in spec.tables.load().items()
    }
    return result | {(guidance.LINE, guidance.ASSET): guidance.GUIDANCE}


def named_tables(statement: str) -> dict[tuple[str, str], TableSchema]:
    """Return (line, asset) -> schema of the known tables that a statement names as `<line>.<asset>`. A line's
    schemas are read only when it is named."""
    result: dict[tuple[str, str], TableSchema] = {}
    for spec in lines().values():
        named = {asset.lower() for asset in re.findall(rf"\b{spec.name}\.(\w+)", statement, re.IGNORECASE)}
        if named and spec.tables:
            result |= {
                (spec.name, asset): schema for asset, schema in spec.tables.load().items() if asset in named
            }
    return result
