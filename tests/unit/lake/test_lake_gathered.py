"""A table of many cycles in one derived file: the same answers as its parts give, and nothing but verified
rows, whatever happens to either."""

import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from evolake.errors import CorruptPart
from evolake.lake import Catalogue, Lake, disk, side_table
from evolake.lake.checkpoint import FEWEST_LINES
from evolake.lake.schemas import ARTIFACTS

CYCLES = FEWEST_LINES + 2
TABLE = side_table("made", ARTIFACTS)
QUESTIONS = (
    "SELECT * FROM artifacts ORDER BY ALL",
    "SELECT * FROM artifacts_all ORDER BY ALL",
    f"SELECT * FROM toys.{TABLE} ORDER BY ALL",
    "SELECT * EXCLUDE (created_at) FROM parts ORDER BY ALL",
)


def publish(lake: Lake, number: int, title: str = "made") -> None:
    cycle = f"{number:04d}"
    rows = [
        {
            "artifact_id": f"{number}-{row}",
            "line": "toys",
            "kind": "toy",
            "cycle": cycle,
            "state": "accepted",
            "title": title,
            "content_sha": "a" * 64,
            "run_id": "run",
            "created_at": datetime(2026, 1, 1, tzinfo=UTC),
            "code_version": "1",
        }
        for row in range(2)
    ]
    lake.publish("toys", TABLE, ARTIFACTS.frame(rows), cycle=cycle, run_id=f"run-{cycle}", schema=ARTIFACTS)


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    monkeypatch.setattr(disk.os, "fsync", lambda descriptor: None)  # nothing dies here
    lake = Lake(tmp_path / "lake")
    for number in range(1, CYCLES + 1):
        publish(lake, number)
    return lake


def answers(lake: Lake) -> list[list[tuple]]:
    with Catalogue(Lake(lake.root)) as catalogue:
        return [catalogue.query(question).rows for question in QUESTIONS]


def gathered(lake: Lake) -> list[Path]:
    return sorted((lake.root / "cache" / "parts").rglob("*.parquet"))


def test_answers_are_those_of_the_parts_before_and_after_the_file_is_written(lake):
    (lake.root / "cache").write_text("in the way of the folder")
    first = answers(lake)
    (lake.root / "cache").unlink()
    assert answers(lake) == first
    [file] = gathered(lake)
    assert answers(lake) == first and gathered(lake) == [file]
    assert [len(rows) for rows in first] == [2 * CYCLES, 2 * CYCLES, 2 * CYCLES, CYCLES]
    publish(lake, 3, "made again")
    publish(lake, CYCLES + 1)
    again = answers(lake)
    assert sum("made again" in row for row in again[0]) == 2 and len(again[0]) == 2 * CYCLES + 2
    assert sum("made again" in row for row in again[2]) == 2 and len(again[1]) == 2 * CYCLES + 4
    assert len(gathered(lake)) == 2, (
        "rows that are gone were left out of a new file; a question that runs still reads the one before"
    )
    assert answers(lake) == again


def test_a_file_with_other_bytes_is_not_believed_and_a_head_of_a_newer_evolake_neither(lake):
    first = answers(lake)
    [file] = gathered(lake)
    file.write_bytes(file.read_bytes()[:-9] + b"otherwise")
    assert answers(lake) == first
    head = next((lake.root / "cache" / "parts").rglob("*.json"))
    for text in (b"", b"{}", json.dumps({"format": 2}).encode()):
        head.write_bytes(text)
        assert answers(lake) == first
    assert pl.read_parquet(gathered(lake)[0]).height == 2 * CYCLES


def test_a_part_that_is_gone_or_of_another_size_is_told_though_its_rows_are_in_the_file(lake):
    answers(lake)
    part = lake.root / "tables" / "toys" / TABLE / "cycle=0005" / "part.parquet"
    part.write_bytes(part.read_bytes() + b"more")
    with pytest.raises(CorruptPart, match="cycle 0005"):
        answers(lake)


def test_a_part_that_is_damaged_before_the_file_is_written_is_told(lake):
    part = lake.root / "tables" / "toys" / TABLE / "cycle=0005" / "part.parquet"
    part.write_bytes(part.read_bytes()[:-9] + b"otherwise")
    with pytest.raises(CorruptPart, match="cycle 0005"):
        answers(lake)
    assert gathered(lake) == []
