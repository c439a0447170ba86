"""The lake for other tools: a .duckdb file that is opened read-only, and Hive partitions as polars and pandas
read them by themselves."""

import json

import duckdb
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from evolake.cli import cli
from evolake.cli.sql import all_tables
from evolake.errors import InputError
from evolake.lake import ARTIFACTS, Catalogue, Lake
from evolake.lake.duckdb_file import write

QUESTIONS = (
    "SELECT * FROM solvers.free ORDER BY ALL",
    "SELECT cycle, count(*) FROM solvers.free GROUP BY ALL ORDER BY ALL",
    "SELECT * FROM artifacts ORDER BY ALL",
    "SELECT * FROM artifacts_all ORDER BY ALL",
    "SELECT * FROM known_artifacts ORDER BY ALL",
    "SELECT * FROM ancestry('a1')",
    "SELECT * FROM solvers.variants",
    "SELECT * FROM verdicts",
    "SELECT line, cycle, state FROM seals",
)


@pytest.fixture
def lake(tmp_path) -> Lake:
    """A free table of two cycles whose columns differ, and a side table of which one row was superseded."""
    lake = Lake(tmp_path / "the lake's")
    lake.publish("solvers", "free", pl.DataFrame({"score": [1.0, 2.0]}), cycle="0001", run_id="run")
    lake.publish("solvers", "free", pl.DataFrame({"score": [3.0], "more": ["x"]}), cycle="0002", run_id="run")
    for state in ("candidate", "accepted"):
        row = {
            "artifact_id": "a1",
            "line": "solvers",
            "kind": "variant",
            "cycle": "0001",
            "state": state,
            "title": "first",
        }
        lake.publish(
            "solvers",
            "variants__artifacts",
            ARTIFACTS.frame([row]),
            cycle="0001",
            run_id="run",
            schema=ARTIFACTS,
        )
    old = pl.DataFrame(
        {"artifact_id": ["a1"], "cycle": ["0001"], "outcome": ["pass"]}
    )  # of an edition with fewer columns
    lake.publish("solvers", "variants__verdicts", old, cycle="0001", run_id="run")
    lake.seals.seal("solvers", "0001", "version", None, "run")
    return lake


def test_the_file_answers_as_the_catalogue_does(lake, tmp_path):
    file = tmp_path / "lake.duckdb"
    done = CliRunner().invoke(cli, ["lake", "duckdb", str(file), "--lake", str(lake.root), "--json"])
    assert json.loads(done.output)["views"] > len(all_tables())
    with duckdb.connect(file, read_only=True) as connection, Catalogue(lake, all_tables()) as catalogue:
        for question in QUESTIONS:
            wanted = catalogue.query(question)
            got = connection.execute(question)
            assert ([column[0] for column in got.description], got.fetchall()) == (
                wanted.columns,
                wanted.rows,
            ), question


def test_an_earlier_file_is_replaced_and_nothing_else_is(lake, tmp_path):
    file, other = tmp_path / "lake.duckdb", tmp_path / "other.duckdb"
    write(lake, file, {})
    lake.publish("solvers", "free", pl.DataFrame({"score": [4.0]}), cycle="0003", run_id="run")
    write(lake, file, {})
    with duckdb.connect(file, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM solvers.free").fetchall() == [(4,)]
    with duckdb.connect(other) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1")
    (tmp_path / "notes.txt").write_text("mine")
    for path in (other, tmp_path / "notes.txt"):
        before = path.read_bytes()
        with pytest.raises(InputError, match="was not written by this command"):
            write(lake, path, {})
        assert path.read_bytes() == before
    with pytest.raises(InputError, match="cannot be written"):
        write(lake, tmp_path / "nowhere/lake.duckdb", {})


def test_plain_polars_and_pandas_read_the_hive_partitions(lake):
    table = lake.root / "tables/solvers/variants__artifacts"
    lake.publish("solvers", "scores", pl.DataFrame({"score": [1.0]}), cycle="0001", run_id="run")
    lake.publish("solvers", "scores", pl.DataFrame({"score": [2.0]}), cycle="0002", run_id="run")
    scores = lake.root / "tables/solvers/scores"
    cycle = {"cycle": pl.String}
    frame = (
        pl.scan_parquet(scores / "cycle=*/part.parquet", hive_partitioning=True, hive_schema=cycle)
        .sort("cycle")
        .collect()
    )
    assert frame.to_dicts() == [{"score": 1.0, "cycle": "0001"}, {"score": 2.0, "cycle": "0002"}]
    shown = pd.concat(
        pd.read_parquet(path, partitioning=None) for path in sorted(table.glob("cycle=*/part.parquet"))
    )
    assert list(shown["state"]) == ["accepted"]
