"""What a table's type is, how a `tables.toml` declares tables, and the types of those that every line shares:
readers, writers and SQL views take them from here.

An asset that makes rows of a shared table publishes them as a side table named `<asset>__<table>`, so that
materializing the asset again replaces exactly its own rows; the catalogue shows the union of all side tables
under the table's name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake.vocabulary import VOCABULARY

Instant = pl.Datetime("us", "UTC")
NAMES_BLOB = "Blob with "
"""How the description of a column begins if its values are names of blobs. Others that hold a hash begin with
"sha256"."""


@dataclass(frozen=True)
class TableSchema:
    """A table's columns, its version and the columns that distinguish its rows.

    Every column has a description: its own, given as (type, description) in `columns`, else that of the
    vocabulary. A description is no part of the stored table: another wording changes neither a hash nor a
    version.

    Attributes:
        name, version: written into the manifest with every part.
        columns: name -> polars type, in the order they are stored.
        keys: columns that together name a row. Publishing accepts repeated keys (checks report them); see
            `repeated_keys`.
        provenance: columns that say who wrote a row and when. They are stored but are not content: a re-run
            that differs in nothing else is the same content.
        rows: what must be true of every row of one cycle, as predicates in SQL (`assets.expectations` says
            of which forms). Publishing accepts other rows; checks report them.
        descriptions: column -> what it means, with its unit.
    """

    name: str
    version: int
    columns: Mapping[str, Any]
    keys: tuple[str, ...]
    provenance: tuple[str, ...] = ()
    rows: tuple[str, ...] = field(default=(), compare=False)
    descriptions: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = {name: given[1] for name, given in self.columns.items() if isinstance(given, tuple)}
        summary = VOCABULARY | own
        if silent := [name for name in self.columns if not summary.get(name)]:
            raise ValueError(
                f"schema {self.name}: say what {', '.join(silent)} means: a column is (type, description)"
            )
        object.__setattr__(self, "descriptions", {name: summary[name] for name in self.columns})
        object.__setattr__(
            self,
            "columns",
            {name: given[0] if name in own else given for name, given in self.columns.items()},
        )
        stray = [name for name in (*self.keys, *self.provenance) if name not in self.columns]
        if stray:
            raise ValueError(f"schema {self.name}: no such column: {', '.join(stray)}")

    @property
    def blobs(self) -> frozenset[str]:
        """The columns that name blobs: their descriptions begin with "Blob with"."""
        return frozenset(name for name, text in self.descriptions.items() if text.startswith(NAMES_BLOB))

    @property
    def described(self) -> dict[str, tuple[Any, str]]:
        """The columns as another schema can take them over: name -> (type, description)."""
        return {name: (kind, self.descriptions[name]) for name, kind in self.columns.items()}

    def note(self, column: str) -> str:
        """Return what a reader is shown about a column: its description, and whether it is no content."""
        aside = (
            " Not content: it may differ when the same work is done again."
            if column in self.provenance
            else ""
        )
        return self.descriptions[column] + aside

    def empty(self) -> pl.DataFrame:
        """Return a frame of no rows with these columns."""
        return pl.DataFrame(schema=dict(self.columns))

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """Return rows as a typed frame. A key that a row lacks is null.

        Raises:
            InputError: a row has a key that is no column, or a value that does not fit its column.
        """
        rows = [dict(row) for row in rows]
        for row in rows:
            if extra := [key for key in row if key not in self.columns]:
                raise self._stray(extra[0])
        data = {}
        for name, kind in self.columns.items():
            values = [row.get(name) for row in rows]
            try:
                data[name] = pl.Series(name, values, dtype=kind, strict=True)
            except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
                raise InputError(
                    f"table {self.name}: a value of column {name!r} does not fit",
                    wanted=repr(kind),
                    got=str(error).splitlines()[0],
                    do="give the column values of that type",
                ) from None
        return pl.DataFrame(data, schema=dict(self.columns))

    def validate(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with its columns in the schema's order. A column of nothing but untyped nulls takes
        the wanted type.

        Raises:
            InputError: naming the first column that is missing, is not in the schema or has another type.
        """
        for name, wanted in self.columns.items():
            if name not in frame.columns:
                there = f"columns {', '.join(frame.columns) or 'none'}"
                raise InputError(
                    f"table {self.name}: column {name!r} is missing",
                    wanted=repr(wanted),
                    got=there,
                    do="add the column",
                )
            got = frame.schema[name]
            if got != wanted and got != pl.Null:
                what = f"table {self.name}: column {name!r} has the wrong type"
                raise InputError(
                    what, wanted=repr(wanted), got=repr(got), do="cast the column before publishing"
                )
        if extra := [name for name in frame.columns if name not in self.columns]:
            raise self._stray(extra[0])
        return frame.select(
            pl.col(name).cast(kind) if frame.schema[name] == pl.Null else pl.col(name)
            for name, kind in self.columns.items()
        )

    def _stray(self, name: str) -> InputError:
        return InputError(
            f"table {self.name}: column {name!r} is not in its schema",
            wanted=", ".join(self.columns),
            got=repr(name),
            do="rename or drop the column, or raise the schema's version",
        )

    def repeated_keys(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of `frame` whose key is null somewhere or is borne by another row too."""
        keys = list(self.keys)
        return frame.filter(pl.struct(keys).is_duplicated() | pl.any_horizontal(pl.col(keys).is_null()))


@dataclass(frozen=True)
class Declared:
    """What a `tables.toml` declares: `tables` by name, `assets` with the table that each publishes, and the
    `terms` of the file."""

    terms: dict[str, str]
    tables: dict[str, TableSchema]
    assets: dict[str, TableSchema]

    def __getitem__(self, name: str) -> TableSchema:
        return self.tables[name]


TYPES: dict[str, Any] = {
    "String": pl.String,
    "Int64": pl.Int64,
    "Float64": pl.Float64,
    "Boolean": pl.Boolean,
    "Instant": Instant,
}
TYPES |= {f"List({name})": pl.List(kind) for name, kind in TYPES.items()}
COLUMN = re.compile(r"(\w+|\*): ([^|]+?)(?: \| (.+))?")
ENTRY = {"version": int, "keys": list, "provenance": list, "assets": list, "columns": str, "rows": str}
ONCE = re.compile(r"once\((.+)\)")
"""How an entry says that no other row has the same values."""


def once(*columns: str) -> str:
    """Return the predicate that no other row has the same values in `columns`; a single one is not null."""
    alone = f" AND {columns[0]} IS NOT NULL" if len(columns) == 1 else ""
    return f"count(*) OVER (PARTITION BY {', '.join(columns)}) = 1{alone}"


def read_tables(path: Path) -> Declared:
    """Return the tables that a TOML file declares.

    An entry is a table:

        [runs]                              # name of the table
        version = 2                         # 1 if left out
        keys = ["run_id"]
        provenance = ["wall_s"]             # none if left out
        assets = ["smoke", "stability"]     # who publishes it; the asset of its name if left out
        columns = '''
        run_id: String | Which run it is.
        wall_s: Float64
        *: others
        '''
        rows = \"\"\"                            # none if left out
        once(run_id)
        wall_s >= 0
        \"\"\"

    A column is one line: name, type (one of TYPES) and description, which may be left out if `[terms]` of the
    file or the vocabulary describes that name. The line `*: others` takes over all columns of a table above,
    and its keys and provenance unless the entry has its own. A line of `rows` is a predicate in SQL;
    `once(a, b)` is short for "no other row has the same a and b".

    Raises:
        ValueError: naming file and table: an unknown word or type, a column that occurs twice or has no
            description, or whatever else is not so.
    """
    tables: dict[str, TableSchema] = {}
    assets: dict[str, TableSchema] = {}
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        terms = entries.pop("terms", {})
        for name, entry in entries.items():
            tables[name] = _declared(name, entry, terms, tables)
            for asset in entry.get("assets", [name]):
                if assets.setdefault(asset, tables[name]) is not tables[name]:
                    raise ValueError(f"schema {name}: {asset} publishes {assets[asset].name} already")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Declared(terms, tables, assets)


def _declared(
    name: str, entry: Any, terms: Mapping[str, str], above: Mapping[str, TableSchema]
) -> TableSchema:
    if not isinstance(entry, dict):
        raise ValueError(f"{name} = {entry!r} is no table")
    if odd := [word for word, value in entry.items() if type(value) is not ENTRY.get(word)]:
        raise ValueError(f"schema {name}: wrong {', '.join(odd)}: an entry has {', '.join(ENTRY)}")
    given: dict[str, Any] = {"version": 1, "provenance": []}
    columns: dict[str, Any] = {}
    for line in entry.get("columns", "").strip().splitlines():
        column, kind, said = _column(name, line)
        if column == "*":
            if kind not in above:
                raise ValueError(f"schema {name}: no table {kind} above it")
            new = above[kind].described
            given |= {"keys": above[kind].keys, "provenance": above[kind].provenance}
        else:
            said = said or terms.get(column)
            new = {column: (TYPES[kind], said) if said else TYPES[kind]}
        if twice := columns.keys() & new.keys():
            raise ValueError(f"schema {name}: {', '.join(twice)} occurs twice")
        columns |= new
    given |= entry
    if "keys" not in given or not columns:
        raise ValueError(f"schema {name}: it needs keys and columns")
    rows = [
        once(*_columns(found[1])) if (found := ONCE.fullmatch(line)) else line
        for line in entry.get("rows", "").strip().splitlines()
    ]
    return TableSchema(
        name, given["version"], columns, tuple(given["keys"]), tuple(given["provenance"]), tuple(rows)
    )


def _columns(text: str) -> list[str]:
    """Return the columns that `once(...)` names; a term of its own is one."""
    return [text] if "(" in text else text.split(", ")


def _column(name: str, line: str) -> tuple[str, str, str | None]:
    found = COLUMN.fullmatch(line)
    if found is None:
        raise ValueError(f"schema {name}: a column is `name: type | description`, not {line!r}")
    column, kind, said = found.groups()
    if column != "*" and kind not in TYPES:
        raise ValueError(f"schema {name}: {column} has no type {kind}, but one of {', '.join(TYPES)}")
    return column, kind, said


_tables = read_tables(Path(__file__).with_name("tables.toml"))
ARTIFACTS = _tables["artifacts"]
DERIVATIONS = _tables["derivations"]
VERDICTS = _tables["verdicts"]
AGENT_CALLS = _tables["agent_calls"]
SESSION_TURNS = _tables["session_turns"]
EVALUATIONS = _tables["evaluations"]
CHAMPIONS = _tables["champions"]
CONTEST_SEEDS = _tables["contest_seeds"]
CHECKS = _tables["checks"]
RULES = _tables["rules"]
STATE = _tables["state"]
OPENED = _tables["opened"]
ADDED_SEEDS = _tables["immigrants"]
LOGGED = _tables["logged"]
SEALS = _tables["seals"]
PARTS = _tables["parts"]
GUIDANCE = _tables["guidance"]
ENTERED = "seeds_entered"
"""Name of the entry of a population's state that tells which seeds have entered: seed_sha ->
`added_seeds.entry`."""
INCOMING = "incoming_"
"""Prefix of the tables of a sealed population. One underscore: two would make it a side table, whose rows the
catalogue counts among the shared."""
SURVIVORS = "survivors"
"""Table of the population that is left at the end of a cycle."""
SHARED = {
    schema.name: schema
    for schema in (
        ARTIFACTS,
        DERIVATIONS,
        VERDICTS,
        AGENT_CALLS,
        SESSION_TURNS,
        EVALUATIONS,
        CHAMPIONS,
        CONTEST_SEEDS,
        CHECKS,
        RULES,
    )
}


def side_table(asset: str, schema: TableSchema) -> str:
    """Return the asset name under which `asset` publishes its rows of a shared table."""
    return f"{asset}__{schema.name}"


def shared_table_of(asset: str) -> str | None:
    """Return the shared table that an asset name is a side table of, or None."""
    _, mark, table = asset.rpartition("__")
    return table if mark and table in SHARED else None


def is_population(asset: str) -> bool:
    """Return True if the rows of a table are a population: made in many cycles, so that their own `cycle` is
    not that of the part.

    A view's `cycle` is that of the part in every table, e.g. the cycle that a population enters.
    """
    return asset.startswith(INCOMING) or asset == SURVIVORS


def incoming_tables(population: Mapping[str, TableSchema]) -> dict[str, TableSchema]:
    """Return the tables that a line publishes with every seal: asset -> schema. population: name ->
    schema."""
    return {f"{INCOMING}{name}": schema for name, schema in population.items()} | {
        "opened": OPENED,
        "immigrants": ADDED_SEEDS,
        "logged": LOGGED,
    }
