"""A walk over the genealogy finds the artifacts that the edges of the view `lineage` lead to, and reads only
verified edges, however the parts are stored."""

import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.errors import CorruptPart
from evolake.lake import Catalogue, Lake, disk, side_table
from evolake.lake.checkpoint import FEWEST_LINES
from evolake.lake.compact import compact
from evolake.lake.duckdb_file import write
from evolake.lake.schemas import DERIVATIONS

TABLE = side_table("made", DERIVATIONS)
NAMES = ("a", "b", "c", "d", "e", "ü")
ALL = (
    "SELECT id, list_sort(reached(id, false)), list_sort(reached(id, true)) FROM (SELECT unnest($ids) AS id)"
)
EDGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((*NAMES, None))), max_size=6)
PARTS = st.lists(st.tuples(st.integers(1, 4), EDGES), max_size=6)
"""(cycle, edges): a cycle that comes again supersedes its part before."""


@pytest.fixture(autouse=True)
def unsynced(monkeypatch) -> None:
    monkeypatch.setattr(disk.os, "fsync", lambda descriptor: None)  # nothing dies here


def publish(lake: Lake, number: int, edges: list[tuple[str, str | None]], table: str = TABLE) -> None:
    cycle = f"{number:04d}"
    rows = [
        {"child_id": child, "parent_id": parent, "operator": f"{at}", "weight": 1.0, "cycle": cycle}
        for at, (child, parent) in enumerate(edges)
    ]
    frame = DERIVATIONS.frame(rows)
    lake.publish("toys", table, frame, cycle=cycle, run_id="run", schema=DERIVATIONS)


def slowly(edges: list[tuple[str, str]], start: str) -> list[str]:
    """The targets that edges (source, target) lead to, by repeated passes over all of them."""
    met: set[str] = set()
    while more := {target for source, target in edges if source in {start, *met}} - met:
        met |= more
    return sorted(met)


def walks(root: Path) -> list[tuple]:
    with Catalogue(Lake(root)) as catalogue:
        return sorted(catalogue.query(ALL, {"ids": list(NAMES)}).rows)


def wanted(root: Path) -> list[tuple]:
    with Catalogue(Lake(root)) as catalogue:
        rows = catalogue.query("SELECT child_id, parent_id FROM lineage WHERE parent_id IS NOT NULL").rows
    back = [edge[::-1] for edge in rows]
    return sorted((name, slowly(rows, name), slowly(back, name)) for name in NAMES)


@given(parts=PARTS, compacted=st.booleans())
@settings(deadline=None, max_examples=30)
def test_the_artifacts_reached_are_those_that_the_edges_of_the_view_lead_to(parts, compacted):
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder) / "lake")
        for number, edges in parts:
            publish(lake, number, edges)
        expected = wanted(lake.root)
        if compacted:
            compact(lake)
        assert walks(lake.root) == expected


@pytest.fixture
def lake(tmp_path) -> Lake:
    """More cycles than are read part by part: a chain, a loop, and the rows of another table."""
    lake = Lake(tmp_path / "lake")
    for number in range(1, FEWEST_LINES + 3):
        publish(lake, number, [(f"{number}", f"{number - 1}"), (f"{number}", None)])
    publish(lake, 1, [("a", "b"), ("b", "a"), ("c", "b"), ("b", "1")], side_table("other", DERIVATIONS))
    return lake


def ancestors(lake: Lake, artifact: str) -> list[str]:
    with Catalogue(Lake(lake.root)) as catalogue:
        rows = catalogue.query("SELECT artifact_id FROM ancestors($id)", {"id": artifact}).rows
    return sorted((name for (name,) in rows), key=lambda name: (len(name), name))


def test_walks_over_many_cycles_are_the_same_without_and_with_a_gathered_file(lake, tmp_path):
    (lake.root / "cache").write_text("in the way of the folder")
    by_parts = [ancestors(lake, name) for name in ("66", "c", "none")]
    assert by_parts == [[f"{number}" for number in range(66)], ["0", "1", "a", "b"], []]
    (lake.root / "cache").unlink()
    assert [ancestors(lake, name) for name in ("66", "c", "none")] == by_parts
    [file] = (lake.root / "cache" / "parts").rglob("*.parquet")
    assert [ancestors(lake, name) for name in ("66", "c", "none")] == by_parts
    publish(lake, 40, [("40", "c")])
    assert ancestors(lake, "66") == ["0", "1", "a", "b", "c", *map(str, range(40, 66))]
    file.write_bytes(file.read_bytes()[:-9] + b"otherwise")
    assert ancestors(lake, "66") == ["0", "1", "a", "b", "c", *map(str, range(40, 66))]
    write(lake, tmp_path / "lake.duckdb", {})
    with duckdb.connect(tmp_path / "lake.duckdb", read_only=True) as connection:
        rows = connection.execute("SELECT artifact_id FROM ancestors('66')").fetchall()
    assert sorted(name for (name,) in rows) == sorted(ancestors(lake, "66"))


def test_a_gathered_file_with_other_bytes_is_never_read(lake):
    first = ancestors(lake, "66")
    [file] = (lake.root / "cache" / "parts").rglob("*.parquet")
    pl.read_parquet(file).with_columns(parent_id=pl.lit("c")).write_parquet(file)
    assert ancestors(lake, "66") == first
    [file] = (lake.root / "cache" / "parts").rglob("*.parquet")
    data = file.read_bytes()
    for at in range(4, len(data) - 8, len(data) // 8):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert ancestors(lake, "66") == first


def test_a_damaged_part_is_reported_before_a_walk(lake):
    part = next((lake.root / "tables" / "toys" / TABLE / "cycle=0007").glob("*.parquet"))
    data = bytearray(part.read_bytes())
    data[40] ^= 1
    part.write_bytes(data)
    with pytest.raises(CorruptPart, match="cycle 0007"):
        ancestors(lake, "66")


def test_one_catalogue_answers_from_the_edges_that_it_was_opened_with(lake):
    with Catalogue(Lake(lake.root)) as catalogue:
        assert catalogue.query("SELECT count(*) FROM lineage").rows == [(136,)]
        assert catalogue.query("SELECT count(*) FROM ancestors('66')").rows == [(66,)]
        assert catalogue.query("SELECT len(reached(NULL, true)), len(reached('65', NULL))").rows == [
            (None, None)
        ]
        assert catalogue.query("SELECT * FROM query('SELECT len(reached(''c'', false))')").rows == [(4,)]
