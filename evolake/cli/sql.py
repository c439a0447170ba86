"""`evolake sql`: ask the lake a question, typed in or kept in a file."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.cli.sql_columns import columns_of
from evolake.cli.sql_listing import page_of, rows_of
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.reading import read_text
from evolake.terminal import say, say_data, say_json, say_text, visible_console
from evolake.visible import in_a_cell

if TYPE_CHECKING:
    from evolake.lake import Catalogue
    from evolake.lake.catalogue import Result

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
    from evolake.cli.known_tables import all_tables, named_tables
    from evolake.lake import Catalogue, Lake

    root = lake_root or settings.load().require_lake()
    if not (root / "tables").is_dir():
        say(f"note: the lake at {root} holds no tables yet; `evolake run` fills it", err=True)
    return Catalogue(Lake(root), extra_schemas=all_tables() if every else named_tables(statement))


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
    from evolake.lines import folder_of, lines

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
