"""The pattern of docs/team-lake.md reads a table by polars alone: before and after compaction, and when a
cycle was run again since."""

import re
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from evolake.cli.sql import all_tables
from evolake.lake import Lake
from evolake.lake.compact import compact

PAGE = Path(__file__).parents[3] / "docs" / "team-lake.md"
SCHEMA = all_tables()["designs", "candidates"]


def put(lake: Lake, cycle: str, *titles: str, run: str = "r") -> None:
    rows = [{"design_id": title, "cycle": cycle, "title": title} for title in titles]
    lake.publish("designs", "candidates", SCHEMA.frame(rows), cycle=cycle, run_id=run, schema=SCHEMA)


def read(lake: Lake) -> pl.DataFrame:
    [code] = [
        text
        for text in re.findall(r"```python\n(.+?)```", PAGE.read_text(), re.DOTALL)
        if "scan_parquet" in text
    ]
    names: dict[str, pl.LazyFrame] = {}
    exec(code.replace("data_lake/tables", f"{lake.root}/tables"), names)
    return names["rows"].sort("cycle", "title").collect()


def test_the_pattern_of_the_page_reads_what_the_lake_holds(tmp_path):
    lake = Lake(tmp_path / "lake")
    put(lake, "0001", "a", "b")
    put(lake, "0002", "c")

    def held() -> pl.DataFrame:
        parts = [lake.read("designs", "candidates", cycle) for cycle in ("0001", "0002")]
        return pl.concat(parts).sort("cycle", "title")

    before = read(lake)
    assert_frame_equal(before, held())
    assert compact(lake)
    assert_frame_equal(read(lake), before)
    put(lake, "0002", "d", "e", run="again")
    assert read(lake)["title"].to_list() == ["a", "b", "d", "e"]
    assert_frame_equal(read(lake), held())
