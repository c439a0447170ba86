"""SQL over the lake: an in-memory DuckDB whose views are the manifest's tables, with nothing else in reach.

    <line>.<asset>            one view per table, with a `cycle` column
    artifacts, derivations, verdicts, agent_calls, evaluations, champions, rules
                              each the union of all lines' side tables; typed and empty if nothing is
                              published
    artifacts_all, ...        the same with the superseded rows, and where each row came from
    parts, seals              what the lake itself holds
    sql/views/, sql/lineage/  further views; the macros ancestors(id), ancestry(id), descendants(id),
                              funnel(line)

DuckDB gets the parts as Arrow datasets over files that were picked from the manifests, and its own access to
files is switched off before the first statement of a user runs: SQL can read what is in the views and can
write nothing. What is checked of a statement here (`check`) is for clear errors, not for safety. A view is
made, and the parts below it are verified, when a query first names it: most questions name two or three of
some hundred. There is no database file, so readers never lock anybody out.
"""

from __future__ import annotations

import difflib
import math
import mmap
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import polars as pl

from evolake.errors import CorruptPart, EvolakeError, InputError, LakeError
from evolake.lake import datasets, disk, genealogy
from evolake.lake.gathered import GatheredParts
from evolake.lake.inventory import Inventory, Part, TableParts, take_inventory
from evolake.lake.layout import check_name
from evolake.lake.schemas import SHARED, TableSchema, is_population, shared_table_of
from evolake.lake.store import Lake
from evolake.project import BROUGHT
from evolake.settings import SqlSettings

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


Answer = TypeVar("Answer")
SQL_ROOT = BROUGHT / "sql"
_READS_BY_NAME = re.compile(r"\b(query_table|query|json_execute_serialized_sql)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_COMPARED = {"=", "<>", "!=", "like", "ilike"}
_TELLS_NAMES = re.compile(
    r"\b(show|describe|information_schema|(duckdb|pg|pragma|sqlite)_\w+)\b", re.IGNORECASE
)
"""What may ask which views there are."""


ROWS_AT_A_TIME = 10_000


def _used_gib() -> float:
    """Return the memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 2**30


def _too_long(limits: SqlSettings) -> InputError:
    do = "ask for less, or set EVOLAKE_SQL__SECONDS"
    return InputError("the statement took too long", wanted=f"at most {limits.seconds:g} s", do=do)


def _too_much_memory(limits: SqlSettings) -> InputError:
    return InputError(
        "the statement, or what it gives, needs too much memory",
        wanted=f"at most {limits.memory_gib:g} GiB",
        do="ask for less (LIMIT, fewer columns), or set EVOLAKE_SQL__MEMORY_GIB",
    )


@dataclass(frozen=True)
class Result:
    """What a statement gave: column names, their DuckDB types, and rows of Python values."""

    columns: list[str]
    types: list[str]
    rows: list[tuple[Any, ...]]


class Catalogue:
    """The lake as it was when this was opened. Use as a context manager, or `close` it.

    Args:
        lake: the lake.
        extra_schemas: (line, asset) -> schema of tables that shall exist, typed and empty, also if nothing is
            published.
        sql_root: the folder with views/ and lineage/.
        limits: of a statement; None: those of the machine.
        shared_only: without the tables of single lines, `parts` and `seals`: for who asks the shared tables
            alone.

    Attributes:
        damaged: `<line>.<asset>` -> why, of each table whose manifest cannot be believed.
    """

    def __init__(
        self,
        lake: Lake,
        extra_schemas: Mapping[tuple[str, str], TableSchema] | None = None,
        sql_root: Path = SQL_ROOT,
        *,
        shared_only: bool = False,
        limits: SqlSettings | None = None,
    ):
        self._lake, self._limits = lake, limits
        self._connection = duckdb.connect(
            config={
                "autoload_known_extensions": "false",
                "autoinstall_known_extensions": "false",
                "allow_community_extensions": "false",
                "python_enable_replacements": "false",
                "allow_persistent_secrets": "false",
                "temp_directory": "",
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")
        if limits:
            self._connection.execute(f"SET memory_limit = '{limits.memory_gib * 1024:.0f}MiB'")
        self._needs: dict[str, frozenset[str]] = {}  # a view's or macro's name -> words of its definition
        self._pending: dict[str, Callable[[], None]] = {}  # a view's or table's name -> what makes it
        self._files: dict[str, Path] = {}  # a view's or macro's name -> its file, until it has been run
        self._parts: dict[str, Callable[[], list[Part]]] = {}  # a view's name -> the parts under it
        self._broken: dict[str, LakeError] = {}  # a view's name -> why it cannot be believed
        self._gathered = GatheredParts(lake)
        self._verified: set[Path] = set()
        self._ready_views: set[str] = set()  # names of views whose parts are verified and below them
        self._later: dict[
            str, tuple[str, Callable[[list[Part]], Any]]
        ] = {}  # a view's name -> its source, and what its parts are there
        self._warnings: list[str] = []
        self.damaged: dict[str, LakeError] = {}
        self._edge_parts: list[Part] = []  # those of genealogy.VIEW, once they are verified
        self._genealogy = genealogy.Genealogy()
        self._genealogy.register(self._connection)
        self._register(take_inventory(lake), dict(extra_schemas or {}), shared_only)
        self._files = {
            path.stem: path
            for folder in ("views", "lineage")
            for path in sorted((sql_root / folder).glob("*.sql"))
        }
        self._needs = {name: _words(path.read_text()) for name, path in self._files.items()}
        self._needs[genealogy.NAME] = frozenset({genealogy.VIEW})
        self._connection.execute("SET enable_progress_bar = false")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _register(
        self, inventory: Inventory, extra_schemas: dict[tuple[str, str], TableSchema], shared_only: bool
    ) -> None:
        for (line, asset), error in inventory.damaged.items():
            self._warnings.append(
                f"table {line}.{asset} cannot be read: {error.what}, {error.got}; {error.do}"
            )
            self._broken[f"{line}.{asset}"] = self.damaged[f"{line}.{asset}"] = error
            if table := shared_table_of(asset):
                self._broken |= {table: error, f"{table}_all": error}
        self._warnings += [
            f"superseded part is lost: {part.path}"
            for table in inventory.tables
            for part in table.odd
            if part.state == "lost"
        ]
        by_table = {(table.line, table.asset): table for table in inventory.tables}
        for name, schema in SHARED.items():
            of_table = [table for table in inventory.tables if shared_table_of(table.asset) == name]
            current, everything = (
                partial(_parts, of_table, current=True),
                partial(_parts, of_table, current=False),
            )
            self._view(
                name, current, partial(datasets.arrow_schema, schema), partial(datasets.shared, schema=schema)
            )
            with_origin = partial(datasets.shared, schema=schema, with_origin=True)
            self._view(f"{name}_all", everything, partial(datasets.origin_schema, schema), with_origin)
        if shared_only:
            return
        for line, asset in sorted(by_table.keys() | extra_schemas.keys()):
            own = [by_table[line, asset]] if (line, asset) in by_table else []
            name = f"{check_name('line', line)}.{check_name('asset', asset)}"
            columns = lru_cache(partial(datasets.table_schema, own, extra_schemas.get((line, asset))))
            if is_population(asset):
                columns = lru_cache(partial(_population_schema, own, columns))
            self._view(name, partial(_parts, own, current=True), columns, partial(_table, columns=columns))
        self._pending["parts"] = lambda: self._table("parts", datasets.parts_table(inventory.tables))
        try:
            seals = datasets.seals_table(self._lake)
        except LakeError as error:
            self._warnings.append(f"table seals cannot be read: {error.what}, {error.got}; {error.do}")
            self._broken["seals"] = error
        else:
            self._pending["seals"] = lambda: self._table("seals", seals)

    def _view(
        self,
        name: str,
        parts: Callable[[], list[Part]],
        columns: Callable[[], Any],
        dataset: Callable[[list[Part]], Any],
    ) -> None:
        """Create a view with its columns; its files are put below it by the first query that may read
        them."""
        self._parts[name] = parts
        source = f"_source_{len(self._parts)}"

        def make() -> None:
            if (schema := columns()) is None:
                return  # every part of it is missing; a query that names it says so
            self._later[name] = (source, dataset)
            self._connection.register(source, datasets.empty(schema))
            line = name.rpartition(".")[0]
            if line:
                self._connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{line}"')
            quoted = ".".join(f'"{step}"' for step in name.split("."))
            by_part = datasets.PART_CYCLE in schema.names and bool(line)
            shown = (
                f"SELECT * EXCLUDE ({datasets.PART_CYCLE}) REPLACE (coalesce({datasets.PART_CYCLE}, "
                "cycle) AS cycle) "
                if by_part
                else ""
            )
            self._connection.execute(f"CREATE VIEW {quoted} AS {shown}FROM {source}")

        self._pending[name] = make

    def _make(self, words: frozenset[str] | None = None) -> None:
        """Create the views, tables and macros that these words, and the definitions of what they name, may
        mean; all of them by default."""
        reached = words if words is None else self._reached(words)
        for name in [
            name for name in self._pending if reached is None or name.lower().rpartition(".")[2] in reached
        ]:
            self._pending.pop(name)()
        self._run_files([name for name in self._files if reached is None or name.lower() in reached])

    @property
    def warnings(self) -> list[str]:
        """What a reader should know: tables whose manifest is damaged, superseded parts that are lost, views
        that could not be made."""
        self._make()
        return self._warnings

    def _table(self, name: str, frame: pl.DataFrame) -> None:
        self._connection.register(f"_rows_{name}", frame.to_arrow())
        self._connection.execute(f"CREATE TABLE {name} AS FROM _rows_{name}")
        self._connection.unregister(f"_rows_{name}")

    def _run_files(self, names: list[str]) -> None:
        """Run some view and macro files; one may use another, so those that lack something are tried
        again."""
        waiting = [(name, self._files.pop(name)) for name in names]
        while waiting:
            left: list[tuple[str, Path, duckdb.Error]] = []
            for name, path in waiting:
                try:
                    self._connection.execute(path.read_text())
                except duckdb.CatalogException as error:
                    left.append((name, path, error))
                except duckdb.Error as error:
                    raise LakeError(
                        f"{path} cannot be run",
                        wanted="one CREATE VIEW or MACRO",
                        got=str(error),
                        do="fix the file",
                    ) from error
            if len(left) == len(waiting):
                for name, _, error in left:
                    del self._needs[name]
                    self._warnings.append(f"view {name} is not there: {str(error).splitlines()[0]}")
                return
            waiting = [(name, path) for name, path, _ in left]

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Run one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN, PIVOT).

        Args:
            sql: one statement with parameters as `$name`. parameters: a value for each.

        Raises:
            InputError: the statement or its parameters are wrong; names what, and close names of unknown
                tables.
            CorruptPart: a part that the statement needs is damaged. LakeError: so is a manifest or a seal.
        """
        given = self._ready(sql, parameters)

        def run() -> Result:
            cursor = self._connection.execute(sql, given) if given else self._connection.execute(sql)
            columns = [column[0] for column in cursor.description]
            types = [str(column[1]) for column in cursor.description]
            return Result(columns, types, [row for some in self._fetched(cursor) for row in some])

        with self._limited():
            return self._ran(run)

    def _fetched(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows. Raises InputError if they are more than the limits allow."""
        before, ends = _used_gib(), time.monotonic() + (self._limits.seconds if self._limits else math.inf)
        while rows := cursor.fetchmany(ROWS_AT_A_TIME):
            yield rows
            if self._limits and _used_gib() - before > self._limits.memory_gib:
                raise _too_much_memory(self._limits)
            if self._limits and time.monotonic() > ends:
                raise _too_long(self._limits)

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Interrupt a statement that takes too long, and name the limit that it met."""
        if self._limits is None:
            yield
            return
        timer = threading.Timer(self._limits.seconds, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (InputError, LakeError) as error:
            if isinstance(error.__cause__, duckdb.InterruptException):
                raise _too_long(self._limits) from error
            if isinstance(error.__cause__, duckdb.OutOfMemoryException):
                raise _too_much_memory(self._limits) from error
            raise
        finally:
            timer.cancel()

    def frame(self, sql: str, parameters: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Do as `query`, as a polars frame."""
        given = self._ready(sql, parameters)
        return self._ran(lambda: pl.DataFrame(self._connection.sql(sql, params=given).to_arrow_table()))

    def _ran(self, run: Callable[[], Answer]) -> Answer:
        """Return what `run` gives. Where it does not know a name, it runs again with all views there, for
        DuckDB to say which are near."""
        with explained(self._names):
            try:
                return run()
            except (duckdb.BinderException, duckdb.CatalogException):
                if not self._pending and not self._files:
                    raise
                self._make()
                return run()

    def _ready(self, sql: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters of a statement that may be run now: it is one that reads, and what it reads
        is whole."""
        given = check(self._connection, sql, dict(parameters or {}))
        self._make(None if _READS_BY_NAME.search(sql) or _TELLS_NAMES.search(sql) else _words(sql))
        self._verify(sql)
        return given

    def _names(self) -> list[str]:
        return [name for name, _ in self.views()]

    def _verify(self, sql: str) -> None:
        """Put below every view that the statement may read its parts, verified; move damaged parts to
        quarantine and raise."""
        words, everything = self._reached(_words(sql)), bool(_READS_BY_NAME.search(sql))
        for name, damage in self._broken.items():
            if everything or words.issuperset(name.lower().split(".")):
                raise damage
        reached = [name for name in self._parts if everything or name.rpartition(".")[2] in words]
        parts = {name: self._parts[name]() for name in reached if name not in self._ready_views}
        parts = self._taken(parts)
        self._verify_parts({part.path: part for some in parts.values() for part in some})
        for name, some in (parts | self._gather(parts)).items():
            self._put_below(name, some)
        if everything or genealogy.NAME in words:
            with disk.as_lake_error("the genealogy cannot be read", "the verified parts of `derivations`"):
                self._genealogy.read(self._edge_parts)

    def _verify_parts(self, parts: Mapping[Path, Part]) -> None:
        wanted = [part for path, part in parts.items() if path not in self._verified]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for part, damage in zip(wanted, pool.map(self._damage, wanted), strict=True):
                if damage:
                    raise damage
                self._verified.add(part.path)

    def _taken(self, parts: Mapping[str, list[Part]]) -> dict[str, list[Part]]:
        """Return the parts of each view, those of gathered files in place of their own."""
        result = {name: self._gathered.taken(some) for name, some in parts.items()}
        self._verified |= self._gathered.files()
        return result

    def _gather(self, parts: Mapping[str, list[Part]]) -> dict[str, list[Part]]:
        """Gather parts if that is worth a file; return those of the views concerned. parts: by view,
        verified."""
        apart = [name for name, some in parts.items() if any(part.place is None for part in some)]
        known = {name: self._parts[name]() for name in apart}
        for due in self._gathered.due({part.path: part for some in known.values() for part in some}.values()):
            self._gathered.write(due)
        return self._taken(known)

    def _put_below(self, name: str, parts: list[Part]) -> None:
        """Give a view its parts."""
        if name in self._later:
            source, dataset = self._later.pop(name)
            if parts:
                self._connection.register(source, dataset(parts))
        if name == genealogy.VIEW:
            self._edge_parts = parts
        self._ready_views.add(name)

    def _damage(self, part: Part) -> CorruptPart | None:
        try:
            part.verify(self._lake)
        except CorruptPart as error:
            return error
        return None

    def _reached(self, words: frozenset[str]) -> frozenset[str]:
        """Return these words, and those of every view and macro that they name, directly or not."""
        reached, fresh = frozenset[str](), words
        while fresh:
            reached |= fresh
            fresh = (
                frozenset[str]().union(*(self._needs[name] for name in fresh & self._needs.keys())) - reached
            )
        return reached

    def views(self) -> list[tuple[str, list[str]]]:
        """Return (name, columns) of every view and table, a line's as `<line>.<asset>`."""
        self._make()
        rows = self._connection.execute("""
            SELECT table_schema, table_name, list(column_name ORDER BY ordinal_position)
              FROM information_schema.columns
            WHERE table_catalog = 'memory' AND NOT starts_with(table_name, '_') GROUP BY ALL ORDER BY ALL
        """).fetchall()
        rows.sort(key=lambda row: (row[0] != "main", row))
        return [(name if schema == "main" else f"{schema}.{name}", columns) for schema, name, columns in rows]


def _parts(tables: list[TableParts], *, current: bool) -> list[Part]:
    """Return the parts of some tables that are not lost, or the current ones alone."""
    return [
        part
        for table in tables
        for part in table.parts
        if part.state != "lost" and not (current and part.superseded)
    ]


def _table(parts: list[Part], columns: Callable[[], Any]) -> Any:
    """One line's table over its parts, with the columns that its view was made with."""
    return datasets.table(parts, columns())


def _population_schema(tables: list[TableParts], columns: Callable[[], Any]) -> Any:
    """Return the columns of a population. In files of many cycles its rows keep their own `cycle`, so that
    the part's is a column there."""
    schema = columns()
    packed = any(part.place for table in tables for part in table.parts)
    return datasets.with_part_cycle(schema) if schema is not None and packed else schema


@lru_cache(256)
def _words(sql: str) -> frozenset[str]:
    """Return the words of a statement in lower case, less comments and strings that something is compared
    with: what may name a view."""
    data = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [*(start for start, _ in tokens[1:]), len(data)]
    words, before = set(), ""
    for (start, kind), end in zip(tokens, ends, strict=True):
        text = data[start:end].decode().strip()
        if kind != duckdb.token_type.comment:
            if kind != duckdb.token_type.string_const or before not in _COMPARED:
                words |= {word.lower() for word in _WORD.findall(text)}
            before = text.lower()
    return frozenset(words)
