"""What a user's SQL may be, and what its errors mean.

Safety does not rest on this file (DuckDB has no access to files when a user's statement runs): it makes wrong
statements fail early, with a sentence that says what to do.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from evolake.errors import EvolakeError, InputError, LakeError

_ALLOWED = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI}
_MISSING_TABLE = re.compile(r"Table with name \"?([\w.]+)\"? does not exist", re.IGNORECASE)
_OURS = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InternalException, duckdb.FatalException)


def check(connection: duckdb.DuckDBPyConnection, sql: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters to run `sql` with, once it is known to be one statement that reads.

    Raises:
        InputError: not one statement, not one that reads, or parameters that do not fit it.
    """
    try:
        result = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise explain(error, []) from error
    if len(result) != 1:
        raise InputError(
            "the SQL is not one statement",
            wanted="exactly one",
            got=str(len(result)),
            do="run the statements one by one",
        )
    if result[0].type not in _ALLOWED:
        raise InputError(
            "the lake is read-only here",
            wanted="a SELECT, DESCRIBE, SHOW, SUMMARIZE, PIVOT or EXPLAIN",
            got=result[0].type.name,
            do="write a SELECT over the views",
        )
    wanted = set(result[0].named_parameters)
    if missing := sorted(wanted - given.keys()):
        raise InputError(
            f"parameter ${missing[0]} has no value",
            wanted=_names(wanted),
            got=_names(given),
            do=f"add -p {missing[0]}=VALUE",
        )
    if unknown := sorted(given.keys() - wanted):
        do = f"drop -p {unknown[0]}=... or correct its name"
        raise InputError(
            f"the statement has no parameter ${unknown[0]}", wanted=_names(wanted), got=_names(given), do=do
        )
    return given


def _names(names: Any) -> str:
    return ", ".join(f"${name}" for name in sorted(names)) or "none"


def explain(error: duckdb.Error, tables: list[str]) -> EvolakeError:
    """Return DuckDB's error as ours: a user's mistake with a hint, or a failure of the machinery."""
    message = re.sub(r"\n\s*\n", "\n", str(error)).strip()
    if isinstance(error, duckdb.PermissionException):
        do = "read from the views; `evolake sql --list` names them"
        return InputError(
            "SQL cannot reach files here", wanted="the lake's views", got=message.splitlines()[0], do=do
        )
    if isinstance(error, _OURS):
        return LakeError(
            "DuckDB could not run the statement", got=message, do="free memory or disk, and run again"
        )
    if unknown := _MISSING_TABLE.search(message):
        close = _close(unknown[1], tables)
        return InputError(
            f"there is no table {unknown[1]!r}",
            wanted="a table or view of the lake",
            got=message.splitlines()[0],
            do=f"did you mean {' or '.join(close)}?" if close else "`evolake sql --list` names the tables",
        )
    return InputError(
        "the SQL cannot be run",
        got=message,
        do="correct the statement; `evolake sql --list` names the tables and their columns",
    )


@contextmanager
def explained(tables: Callable[[], list[str]]) -> Iterator[None]:
    """Turn DuckDB's errors inside the block into ours; `tables` gives the names that close ones are looked
    for among."""
    try:
        yield
    except duckdb.Error as error:
        raise explain(error, tables()) from error


def _close(name: str, tables: list[str]) -> list[str]:
    """Up to three tables whose name, with or without its line, is near."""
    short: dict[str, list[str]] = {}
    for table in tables:
        for key in {table.lower(), table.rpartition(".")[2].lower()}:
            short.setdefault(key, []).append(table)
    spellings = (name.lower(), name.lower().rpartition(".")[2])
    near = next(
        filter(None, (difflib.get_close_matches(spelling, short, n=3, cutoff=0.6) for spelling in spellings)),
        [],
    )
    return list(dict.fromkeys(table for key in near for table in short[key]))[:3]
