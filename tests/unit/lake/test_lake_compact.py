"""Compaction puts the parts of many cycles into few files and changes no answer, no hash and nothing of what
a later cycle may do."""

import json
import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest

from evolake.errors import CorruptPart, PartitionBusy
from evolake.lake import ARTIFACTS, DERIVATIONS, Catalogue, Lake, side_table
from evolake.lake.audit import audit, repair
from evolake.lake.compact import compact
from evolake.lake.duckdb_file import write
from evolake.lake.garbage import find
from evolake.lake.lake_format import FORMAT, MARKER
from evolake.lake.mirror import pull, push

CYCLES = [f"{number:04d}" for number in range(1, 8)]
QUESTIONS = (
    "SELECT * FROM artifacts ORDER BY ALL",
    "SELECT * FROM artifacts_all ORDER BY ALL",
    "SELECT * FROM derivations_all ORDER BY ALL",
    "SELECT * FROM designs.scores ORDER BY ALL",
    "SELECT * FROM ancestry('0007-1') ORDER BY ALL",
    "SELECT * FROM lineage ORDER BY ALL",
    "SELECT line, asset, cycle, state, rows, content_sha, file_sha, run_id, created_at FROM parts ORDER "
    "BY ALL",
    "SELECT * FROM calls ORDER BY ALL",
)


def fill(lake: Lake, cycle: str, run: str = "run", more: str = "") -> None:
    """One cycle: a table with its own columns (another one from cycle 4 on) and two side tables."""
    rows = pl.DataFrame(
        {
            "design": [f"{cycle}{more}", None],
            "score": [float(cycle), float("nan")],
            "words": [["a", cycle], []],
        }
    )
    if cycle >= "0004":
        rows = rows.with_columns(later=pl.lit(1))
    lake.publish("designs", "scores", rows, cycle=cycle, run_id=run)
    made = [
        {
            "artifact_id": f"{cycle}-{i}{more}",
            "line": "designs",
            "cycle": cycle,
            "state": "accepted",
            "run_id": run,
        }
        for i in range(3)
    ]
    lake.publish(
        "designs",
        side_table("survivors", ARTIFACTS),
        ARTIFACTS.frame(made),
        cycle=cycle,
        run_id=run,
        schema=ARTIFACTS,
    )
    edges = [
        {
            "child_id": f"{cycle}-1{more}",
            "parent_id": f"{int(cycle) - 1:04d}-1",
            "operator": "graft",
            "weight": 1.0,
            "cycle": cycle,
        }
    ]
    lake.publish(
        "designs",
        side_table("survivors", DERIVATIONS),
        DERIVATIONS.frame(edges),
        cycle=cycle,
        run_id=run,
        schema=DERIVATIONS,
    )


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    for cycle in CYCLES:
        fill(lake, cycle)
    fill(lake, "0003", run="again", more="b")
    lake.publish("designs", "rules", pl.DataFrame({"x": [1]}), cycle=None, run_id="run")
    return lake


def answers(root: Path) -> list[list[tuple]]:
    with Catalogue(Lake(root)) as catalogue:
        assert catalogue.warnings == []
        return [[tuple(map(str, row)) for row in catalogue.query(question).rows] for question in QUESTIONS]


def records(root: Path) -> dict:
    lake = Lake(root)
    return {
        (line, asset, cycle): lake.record(line, asset, cycle)
        for line, asset in lake.assets()
        for cycle in lake.cycles(line, asset)
    }


def damage(root: Path) -> list[str]:
    return [finding.what for finding in audit(Lake(root)) if not finding.note]


def parts(root: Path) -> list[str]:
    tables = root / "tables"
    return sorted(
        path.relative_to(tables).parts[1]
        for path in tables.rglob("*.parquet")
        if "_history" not in path.parts
    )


def test_no_answer_no_record_and_no_content_changes_and_the_files_are_few(lake):
    before, known, contents = (
        answers(lake.root),
        records(lake.root),
        [Lake(lake.root).read("designs", "scores", cycle) for cycle in CYCLES],
    )
    assert {table.asset for table in compact(Lake(lake.root))} == {
        "scores",
        "survivors__artifacts",
        "survivors__derivations",
    }
    assert parts(lake.root) == ["rules", "scores", "scores", "survivors__artifacts", "survivors__derivations"]
    assert (answers(lake.root), records(lake.root)) == (before, known)
    for cycle, content in zip(CYCLES, contents, strict=True):
        assert Lake(lake.root).read("designs", "scores", cycle).equals(content)
        assert Lake(lake.root).scan("designs", "scores", cycle).collect().equals(content)
    assert damage(lake.root) == []
    assert json.loads((lake.root / MARKER).read_text())["format"] == FORMAT


def test_a_population_is_asked_for_by_the_cycle_that_it_enters_however_its_parts_are_stored(tmp_path):
    """Its rows were made in other cycles than the part's, and keep theirs."""
    lake, columns = Lake(tmp_path / "lake"), {"member": pl.String, "cycle": pl.String}
    for number in range(1, 5):
        rows = [(f"{made:04d}", f"{made:04d}") for made in range(number)]
        for asset in ("incoming_members", "survivors"):
            lake.publish(
                "designs",
                asset,
                pl.DataFrame(rows, schema=columns, orient="row"),
                cycle=f"{number:04d}",
                run_id="run",
            )
    counts = [("0001", 1), ("0002", 2), ("0003", 3), ("0004", 4)]

    def answered() -> list[list[tuple[str, int]]]:
        question = "SELECT cycle, count(*) FROM designs.{} GROUP BY cycle ORDER BY cycle"
        with Catalogue(Lake(lake.root)) as catalogue:
            inside = [
                catalogue.query(question.format(asset)).rows for asset in ("incoming_members", "survivors")
            ]
            assert catalogue.query("FROM designs.survivors").columns == ["member", "cycle"]
        file = tmp_path / "lake.duckdb"
        write(Lake(lake.root), file, {})
        with duckdb.connect(file, read_only=True) as connection:
            outside = [
                connection.execute(question.format(asset)).fetchall()
                for asset in ("incoming_members", "survivors")
            ]
        file.unlink()
        return [[tuple(row) for row in rows] for rows in (*inside, *outside)]

    assert answered() == [counts] * 4
    assert {table.asset for table in compact(Lake(lake.root))} == {"incoming_members", "survivors"}
    assert answered() == [counts] * 4
    assert Lake(lake.root).read("designs", "survivors", "0003")["cycle"].to_list() == ["0000", "0001", "0002"]


def test_a_second_compaction_does_nothing_and_a_dry_run_changes_nothing(lake):
    files = {path: path.read_bytes() for path in lake.root.rglob("*") if path.is_file()}
    summary = compact(Lake(lake.root), dry_run=True)
    assert {path: path.read_bytes() for path in lake.root.rglob("*") if path.is_file()} == files
    done = compact(Lake(lake.root))
    assert [(item.asset, item.parts, item.files) for item in summary] == [
        (item.asset, item.parts, item.files) for item in done
    ]
    assert compact(Lake(lake.root)) == [] == compact(Lake(lake.root), dry_run=True)


def test_later_cycles_and_old_ones_again_go_on_as_without_it(lake, tmp_path):
    """The same publications with and without compactions between them give the same answers; nothing
    superseded is lost."""
    plain = tmp_path / "plain"
    shutil.copytree(lake.root, plain)
    for root in (lake.root, plain):
        for cycle, run, more in (
            ("0008", "run", ""),
            ("0002", "third", "c"),
            ("0003", "third", "c"),
            ("0009", "run", ""),
        ):
            if root == lake.root:
                compact(Lake(root))
            fill(Lake(root), cycle, run, more)
        if root == lake.root:
            assert damage(root) == []
            compact(Lake(root))
    drop = [index for index, question in enumerate(QUESTIONS) if "created_at" in question]
    mine, theirs = (
        [answer for index, answer in enumerate(answers(root)) if index not in drop]
        for root in (lake.root, plain)
    )
    assert mine == theirs
    assert damage(lake.root) == []
    assert parts(lake.root) == ["rules", "scores", "scores", "survivors__artifacts", "survivors__derivations"]
    assert {k: r.content_sha for k, r in records(lake.root).items()} == {
        k: r.content_sha for k, r in records(plain).items()
    }


def test_it_is_refused_while_a_line_is_at_work(lake):
    before = parts(lake.root)
    with Lake(lake.root).line_lock("designs", run_id="night"), pytest.raises(PartitionBusy, match="night"):
        compact(Lake(lake.root))
    assert parts(lake.root) == before


def test_mirror_garbage_and_other_tools_know_the_files(lake, tmp_path):
    before = answers(lake.root)
    compact(Lake(lake.root))
    url = (tmp_path / "mirror").as_uri()
    push(Lake(lake.root), url)
    pull(tmp_path / "theirs", url)
    assert answers(tmp_path / "theirs") == before
    assert find(Lake(lake.root)).items == ()

    write(Lake(lake.root), tmp_path / "lake.duckdb", {})
    with duckdb.connect(tmp_path / "lake.duckdb", read_only=True) as connection:
        parts = [
            [tuple(map(str, row)) for row in connection.execute(question).fetchall()]
            for question in QUESTIONS[:3]
        ]
    assert [[tuple(sorted(row)) for row in item] for item in parts] == [
        [tuple(sorted(row)) for row in item] for item in before[:3]
    ]
    files = lake.root / "tables/designs/scores/cycles=*/*.parquet"
    many = pl.scan_parquet(files, hive_partitioning=False, missing_columns="insert", extra_columns="ignore")
    assert many.select(pl.col("cycle").n_unique()).collect().item() == len(CYCLES)


def test_a_damaged_file_of_many_cycles_is_told_by_whoever_reads_and_a_cycle_of_it_can_be_made_again(lake):
    compact(Lake(lake.root))
    path = sorted(lake.root.glob("tables/designs/scores/cycles=*/*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptPart, match="which holds designs/scores cycle 0001 with others, is damaged"):
        Lake(lake.root).read("designs", "scores", "0001")
    with Catalogue(Lake(lake.root)) as catalogue, pytest.raises(CorruptPart):
        catalogue.query("FROM designs.scores")
    assert any("the file that holds designs/scores cycle 0001" in what for what in damage(lake.root))
    fill(Lake(lake.root), "0001")
    assert Lake(lake.root).read("designs", "scores", "0001").height == 2


def test_a_lost_manifest_is_mended_from_the_files_of_many_cycles(lake):
    compact(Lake(lake.root))
    before = {key: record.content_sha for key, record in records(lake.root).items()}
    (lake.root / "tables/designs/scores/_manifest.jsonl").unlink()
    assert damage(lake.root) != []
    repair(Lake(lake.root))
    assert {key: record.content_sha for key, record in records(lake.root).items()} == before
