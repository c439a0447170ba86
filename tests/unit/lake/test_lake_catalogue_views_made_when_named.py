"""Views are made when a statement names them; who asks which there are sees all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake


@pytest.fixture
def catalogue(tmp_path: Path):
    lake = Lake(tmp_path)
    for asset in ("first", "second"):
        lake.publish("designs", asset, pl.DataFrame({"number": [1, 2]}), cycle="0001", run_id="r")
    with Catalogue(lake) as catalogue:
        assert catalogue.query("SELECT 1").rows == [(1,)]  # names nothing
        yield catalogue


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT table_name FROM information_schema.tables",
        "SELECT view_name FROM duckdb_views()",
        "SELECT name FROM (SHOW ALL TABLES)",
        "SELECT tablename FROM pg_tables UNION ALL SELECT viewname FROM pg_views",
        "SELECT name FROM sqlite_master",
        "SHOW ALL TABLES",
    ],
)
def test_whoever_asks_which_views_there_are_sees_all(catalogue: Catalogue, statement: str):
    result = {cell for row in catalogue.query(statement).rows for cell in row if isinstance(cell, str)}
    assert {"first", "second", "verdicts", "verdicts_all", "lineage"} <= result


def test_a_view_brings_those_that_it_stands_on(catalogue: Catalogue):
    assert catalogue.query("SELECT count(*) FROM lineage").rows == [(0,)]
    assert catalogue.query("SELECT count(*) FROM ancestors('nobody')").rows == [(0,)]


def test_one_statement_after_another_names_more(catalogue: Catalogue):
    assert catalogue.query("SELECT sum(number) FROM designs.first").rows == [(3,)]
    assert catalogue.query(
        'SELECT count(*) FROM "designs"."SECOND" JOIN designs.first USING (number)'
    ).rows == [(2,)]


def test_close_names_are_found_among_all(catalogue: Catalogue):
    with pytest.raises(InputError, match=r"(?s)there is no table '(designs\.)?secnd'.*designs\.second"):
        catalogue.query("SELECT * FROM designs.secnd")
