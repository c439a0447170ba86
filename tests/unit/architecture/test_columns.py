"""Every column of every table says what it means, in words that its name does not say already, with its
unit."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

import assets
import evolake
from evolake.cli.known_tables import all_tables
from evolake.lake.schemas import TableSchema
from evolake.lake.vocabulary import VOCABULARY
from evolake.lines import lines

ROOT = Path(__file__).parents[3]
SIXTH = ROOT / "tests" / "sixth_line"
HOLDS_TABLES = re.compile(r"\bTableSchema\(")
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


def modules() -> Iterator[Any]:
    """Every module that defines a table: of evolake, of its assets, and of the line in tests/sixth_line."""
    for package in (evolake, assets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            result = importlib.util.find_spec(module.name)
            if result and result.origin and HOLDS_TABLES.search(Path(result.origin).read_text()):
                yield importlib.import_module(module.name)
    yield importlib.import_module("golomb.rulers")


@pytest.fixture(scope="module")
def tables() -> list[Any]:
    """The modules that define tables."""
    sys.path.insert(0, str(SIXTH))
    try:
        return list(modules())
    finally:
        sys.path.remove(str(SIXTH))


def schemas(tables: list[Any]) -> dict[int, TableSchema]:
    return {
        id(value): value
        for module in tables
        for value in vars(module).values()
        if isinstance(value, TableSchema)
    }


def described(tables: list[Any]) -> list[tuple[str, str, str]]:
    """(table, column, description) of every column."""
    return [
        (schema.name, column, text)
        for schema in schemas(tables).values()
        for column, text in schema.descriptions.items()
    ]


def says_more(column: str, text: str) -> bool:
    """Whether a description has at least two words that count and are not in the column's name."""
    stems = [word.rstrip("s") for word in re.findall(r"[a-z]+", column.lower())]
    fresh = {
        word
        for word in re.findall(r"[\w%]+", text.lower())
        if word not in EMPTY and word.rstrip("s") not in stems
    }
    return len(fresh) >= 2


def test_every_description_says_more_than_the_name(tables):
    assert len(described(tables)) > 1000
    assert [
        item
        for item in described(tables)
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


def test_every_unit_is_said(tables):
    silent = [
        (table, column, text)
        for table, column, text in described(tables)
        for name, unit in UNITS
        if re.search(name, column) and not re.search(unit, text, re.IGNORECASE)
    ]
    assert silent == []


def test_every_shared_word_is_used(tables):
    used = {
        column
        for schema in schemas(tables).values()
        for column, text in schema.descriptions.items()
        if text == VOCABULARY.get(column)
    }
    assert (
        VOCABULARY.keys() - used - {"superseded", "origin_line", "origin_asset", "origin_cycle", "origin_run"}
        == set()
    )  # of the catalogue's views
    for module in tables:
        terms = getattr(module, "TERMS", {})
        drawn = {
            column
            for schema in schemas(tables).values()
            if schema.terms == terms
            for column in schema.columns
        }
        assert terms.keys() - drawn == set(), module.__name__


def test_one_table_of_a_line_has_one_name(tables):
    known = all_tables()
    for line in {line for line, _ in known}:
        names: dict[str, TableSchema] = {}
        for schema in (schema for (of, _), schema in known.items() if of == line):
            assert names.setdefault(schema.name, schema) == schema


def test_every_asset_shows_its_columns_and_sql_knows_them():
    from pipelines.definitions import defs
    from resources.tables import declared

    known, shown = all_tables(), []
    for definition in defs.assets or ():
        if not isinstance(definition, dg.AssetsDefinition) or not definition.is_executable:
            continue
        for key in definition.keys:
            line, asset = key.path
            schema = declared(line, asset)
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
