"""Every column of every table says what it means, in words that its name does not say already, with its
unit."""

import re
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from evolake.cli.sql import all_tables
from evolake.lake.schemas import Declared, TableSchema, read_tables
from evolake.lines import lines

ROOT = Path(__file__).parents[3]
FILES = sorted([*(ROOT / "evolake").rglob("tables.toml"), *(ROOT / "tests").rglob("tables.toml")])
UNITS = (
    (r"_s$|_s_", "second"),
    (r"_ms$", "millisecond"),
    (r"_mb$", "MiB"),
    (r"_bytes$", "bytes"),
    (r"^usd", "US dollars"),
    (r"_at$", "UTC"),
    (r"_sha$", r"blob|sha256"),
)
EMPTY = set("a an and as at be by for from how in is it its many of on or that the this to was what".split())  # noqa: SIM905


@pytest.fixture(scope="module")
def declared() -> list[Declared]:
    """What every `tables.toml` declares: of evolake, and of the line in tests/sixth_line."""
    return [read_tables(path) for path in FILES]


def described(declared: list[Declared]) -> list[tuple[str, str, str]]:
    """(table, column, description) of every column."""
    return [
        (name, column, text)
        for file in declared
        for name, schema in file.tables.items()
        for column, text in schema.descriptions.items()
    ]


def test_tables_are_declared_in_files_alone():
    assert len(FILES) == 11
    assert {
        path.relative_to(ROOT).as_posix()
        for folder in ("evolake", "assets")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"[^.]\bTableSchema\(", path.read_text())
    } == {"evolake/lake/schemas.py"}


def says_more(column: str, text: str) -> bool:
    """Whether a description has at least two words that count and are not in the column's name."""
    stems = [word.rstrip("s") for word in re.findall(r"[a-z]+", column.lower())]
    fresh = {
        word
        for word in re.findall(r"[\w%]+", text.lower())
        if word not in EMPTY and word.rstrip("s") not in stems
    }
    return len(fresh) >= 2


def test_every_description_says_more_than_the_name(declared):
    assert len(described(declared)) > 1000
    assert [
        item
        for item in described(declared)
        if not says_more(item[1], item[2]) or not item[2].endswith((".", "?"))
    ] == []


@pytest.mark.parametrize(
    "column, text",
    [
        ("run_id", "The id of the run."),
        ("cycle", "Cycle."),
        ("problems", "How many problems."),
        ("cpu_s", "CPU, in s."),
        ("rank", ""),
    ],
)
def test_a_restatement_of_the_name_is_seen(column, text):
    assert not says_more(column, text)


def test_every_unit_is_said(declared):
    silent = [
        (table, column, text)
        for table, column, text in described(declared)
        for name, unit in UNITS
        if re.search(name, column) and not re.search(unit, text, re.IGNORECASE)
    ]
    assert silent == []


def test_one_table_of_a_line_has_one_name(declared):
    known = all_tables()
    for line in {line for line, _ in known}:
        names: dict[str, TableSchema] = {}
        for schema in (schema for (of, _), schema in known.items() if of == line):
            assert names.setdefault(schema.name, schema) == schema


def test_every_asset_shows_its_columns_and_sql_knows_them():
    from pipelines.definitions import defs
    from resources import tables

    known, shown = all_tables(), []
    for definition in defs.assets or ():
        if not isinstance(definition, dg.AssetsDefinition) or not definition.is_executable:
            continue
        for key in definition.keys:
            line, asset = key.path
            schema = tables.schema_of(definition)
            columns = definition.metadata_by_key[key].get("dagster/column_schema")
            if schema is None:
                frames = [
                    output
                    for output in definition.op.output_defs
                    if output.dagster_type.typing_type in (pl.DataFrame, pl.LazyFrame)
                ]
                assert (columns, frames) == (None, []), key
                continue
            assert known[line, asset] is schema, key
            assert columns is not None, key
            assert {column.name: column.description for column in columns.columns} == {
                name: schema.note(name) for name in schema.columns
            }
            shown.append(key.path)
    assert (
        {line for line, _ in shown}
        == set(lines())
        >= {"designs", "families", "programs", "prompts", "repair", "solvers"}
    )
    assert len(shown) > 60
