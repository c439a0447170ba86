"""Publishing and reading: what goes in comes out, twice is once, damage is put aside, torn manifests are
read."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from evolake.errors import CorruptPart, InputError, LakeError, PartitionBusy
from evolake.lake import DERIVATIONS, Lake, Record
from evolake.lake.hashing import content_hash
from evolake.lake.layout import Partition
from evolake.lake.locks import Fence

FRAME = pl.DataFrame({"design": ["a", "b"], "score": [1.0, None]})
OTHER = pl.DataFrame({"design": ["c"], "score": [3.0]})
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake(tmp_path / "lake", lock_timeout_s=0, clock=lambda: NOON)


def publish(lake: Lake, frame: pl.DataFrame = FRAME, cycle: str | None = "0001", run: str = "run1") -> Record:
    return lake.publish("designs", "candidates", frame, cycle=cycle, run_id=run)


def test_what_is_published_is_read_and_recorded(lake):
    record = publish(lake)
    assert lake.read("designs", "candidates", "0001").equals(FRAME)
    assert lake.scan("designs", "candidates", "0001").collect().equals(FRAME)
    path = lake.root / "tables/designs/candidates/cycle=0001/part.parquet"
    assert record == Record(
        "designs",
        "candidates",
        "0001",
        path,
        2,
        content_hash(FRAME),
        record.file_sha,
        None,
        None,
        "run1",
        NOON,
    )
    assert Lake(lake.root).record("designs", "candidates", "0001") == record
    assert list(lake.assets()) == [("designs", "candidates")]


def test_a_table_of_many_cycles_reads_as_one_with_a_cycle_column(lake):
    publish(lake, OTHER, "0002")
    publish(lake, FRAME, "0001")
    wanted = [
        {"design": "a", "score": 1.0, "cycle": "0001"},
        {"design": "b", "score": None, "cycle": "0001"},
        {"design": "c", "score": 3.0, "cycle": "0002"},
    ]
    assert lake.cycles("designs", "candidates") == ["0001", "0002"]
    assert lake.read("designs", "candidates").to_dicts() == wanted
    assert lake.scan("designs", "candidates").collect().to_dicts() == wanted


def test_the_same_content_twice_is_once(lake):
    first = publish(lake)
    manifest = first.path.parent.parent / "_manifest.jsonl"
    before = manifest.read_bytes(), first.path.stat().st_mtime_ns
    assert publish(lake, FRAME.select("score", "design"), run="run2") == first
    assert (manifest.read_bytes(), first.path.stat().st_mtime_ns) == before


def test_who_wrote_a_row_is_not_content_where_the_schema_says_so(lake):
    from evolake.lake import ARTIFACTS

    rows = {"artifact_id": "x", "line": "designs", "cycle": "0001", "state": "candidate"}
    frames = {run: ARTIFACTS.frame([rows | {"run_id": run}]) for run in ("r1", "r2")}
    first, second = (
        lake.publish("designs", "c__artifacts", frame, cycle="0001", run_id=run, schema=ARTIFACTS)
        for run, frame in frames.items()
    )
    assert first == second
    assert (first.schema_name, first.schema_version) == ("artifacts", 1)
    assert first.content_sha == content_hash(ARTIFACTS.frame([rows | {"run_id": "r3"}]), ARTIFACTS.provenance)


def test_superseded_content_is_kept(lake):
    first = publish(lake)
    kept = Partition(lake.root, "designs", "candidates", "0001").history(1, first.file_sha)
    second = publish(lake, OTHER, run="run2")
    assert lake.read("designs", "candidates", "0001").equals(OTHER)
    assert pl.read_parquet(kept, hive_partitioning=False).equals(FRAME)
    assert publish(lake, FRAME, run="run3").file_sha == first.file_sha != second.file_sha


def test_a_schema_is_held_to(lake):
    with pytest.raises(InputError, match="table derivations: column 'child_id' is missing"):
        lake.publish(
            "designs", "candidates__derivations", FRAME, cycle="0001", run_id="r", schema=DERIVATIONS
        )
    assert lake.record("designs", "candidates__derivations", "0001") is None


def test_what_was_never_published_is_an_input_error_that_names_what_is_there(lake):
    publish(lake)
    with pytest.raises(
        InputError,
        match=(
            r"nothing has been published as designs/candidates cycle 0007\n  wanted: one of the cycles "
            r"0001"
        ),
    ):
        lake.read("designs", "candidates", "0007")
    with pytest.raises(InputError, match="nothing has been published as designs/nothing"):
        lake.read("designs", "nothing")
    assert lake.record("designs", "candidates", "0007") is None
    assert lake.cycles("designs", "nothing") == []


@pytest.mark.parametrize(
    "line, asset, cycle",
    [
        ("../x", "a", "0001"),
        ("designs", "A b", "0001"),
        ("designs", "a", "1"),
        ("main", "a", "0001"),
        ("designs", "a", "../1"),
    ],
)
def test_names_that_could_leave_the_lake_are_refused(lake, line, asset, cycle):
    with pytest.raises(InputError):
        lake.publish(line, asset, FRAME, cycle=cycle, run_id="r")
    assert not lake.root.exists()


def damage_by_truncation(data: bytes) -> bytes:
    return data[: len(data) // 2]


def damage_by_one_bit(data: bytes) -> bytes:
    return data[:40] + bytes([data[40] ^ 1]) + data[41:]


def damage_by_emptying(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [damage_by_truncation, damage_by_one_bit, damage_by_emptying])
def test_a_damaged_part_is_put_aside_with_a_message_and_mended_by_publishing_again(lake, damage):
    record = publish(lake)
    assert lake.read("designs", "candidates", "0001").equals(FRAME)
    good = record.path.read_bytes()
    record.path.write_bytes(damage(good))
    with pytest.raises(CorruptPart) as error:
        lake.read("designs", "candidates", "0001")
    aside = list((lake.root / "quarantine/designs/candidates").glob("0001-*.parquet"))
    assert [path.read_bytes() for path in aside] == [damage(good)]
    for summary in (
        str(record.path),
        record.file_sha,
        "run1",
        str(aside[0]),
        "materialize designs/candidates cycle 0001 again",
    ):
        assert summary in str(error.value)
    assert json.loads(aside[0].with_suffix(".json").read_text())["wanted"] == record.file_sha

    with pytest.raises(CorruptPart, match="it was put aside earlier"):
        lake.scan("designs", "candidates", "0001")
    assert publish(lake, run="mending").path.read_bytes() == good
    assert lake.read("designs", "candidates", "0001").equals(FRAME)


def test_a_part_that_vanished_is_reported_as_gone(lake):
    publish(lake).path.unlink()
    with pytest.raises(CorruptPart, match="got: no file; the file is gone"):
        lake.read("designs", "candidates", "0001")


def test_nothing_is_put_aside_while_a_writer_holds_the_partition(lake):
    from evolake.lake.locks import hold

    record = publish(lake)
    record.path.write_bytes(b"junk")
    lock = Partition(lake.root, "designs", "candidates", "0001").lock
    with hold(lock, what="p", run_id="writer", timeout_s=0), pytest.raises(CorruptPart, match="run writer"):
        Lake(lake.root, lock_timeout_s=0).read("designs", "candidates", "0001")
    assert record.path.read_bytes() == b"junk"


def test_torn_and_damaged_manifest_lines_are_passed_over(lake):
    record = publish(lake)
    manifest = record.path.parent.parent / "_manifest.jsonl"
    whole = manifest.read_bytes()
    lines = [line for line in whole.split(b"\n") if line]
    for torn in (
        lines[-1][: len(lines[-1]) // 2],
        lines[-1].replace(b'"rows": 2', b'"rows": 3'),
        b"\x00\xff",
        b"[]",
    ):
        manifest.write_bytes(whole + b"\n" + torn)
        assert Lake(lake.root).record("designs", "candidates", "0001") == record
        after = Lake(lake.root).publish("designs", "candidates", OTHER, cycle="0002", run_id="later")
        assert Lake(lake.root).record("designs", "candidates", "0002") == after


def test_a_commit_line_that_was_lost_is_found_again_through_its_intent(lake):
    publish(lake)
    second = publish(lake, OTHER, run="run2")
    manifest = second.path.parent.parent / "_manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-200])
    reader = Lake(lake.root)
    assert reader.record("designs", "candidates", "0001") == second
    assert reader.read("designs", "candidates", "0001").equals(OTHER)
    assert Lake(lake.root).publish("designs", "candidates", OTHER, cycle="0001", run_id="run3") == second
    log = Lake(lake.root).verifier.log(Partition(lake.root, "designs", "candidates", "0001"))
    assert ([entry.token for entry in log.commits], log.pending) == ([1, 2], ())


def test_a_writer_whose_part_another_has_published_meanwhile_has_lost_its_lock(lake):
    publish(lake)
    partition = Partition(lake.root, "designs", "candidates", "0001")
    fence = Fence.take(partition.token, at_least=1, what="p", run_id="stale")
    fence.check()
    publish(lake, OTHER, run="newer")
    with pytest.raises(PartitionBusy, match="lost its lock to a newer writer"):
        fence.check()


def test_one_run_holds_a_line(lake):
    with lake.line_lock("designs", run_id="first"):
        with (
            pytest.raises(PartitionBusy, match=r"line designs is busy[\s\S]*run first"),
            lake.line_lock("designs", run_id="second"),
        ):
            pass
        with lake.line_lock("prompts", run_id="second"):
            pass
    with lake.line_lock("designs", run_id="second"):
        pass


def test_a_lake_that_cannot_be_written_says_so(tmp_path):
    opened = Lake(tmp_path / "file")
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(LakeError, match="nothing is lost: fix the disk"):
        opened.publish("designs", "candidates", FRAME, cycle="0001", run_id="r")


def test_a_line_whose_lock_cannot_be_written_is_an_error_that_says_so(tmp_path):
    (tmp_path / "locks").write_text("not a folder")
    lock = Lake(tmp_path).line_lock("designs", run_id="r")
    with (
        pytest.raises(LakeError, match=r"line designs cannot be locked for run r[\s\S]*nothing is lost"),
        lock,
    ):
        pass


def test_a_damaged_counter_of_writers_is_an_error_and_nothing_is_written(lake):
    record = publish(lake)
    Partition(lake.root, "designs", "candidates", "0001").token.write_bytes(b"\x80")
    with pytest.raises(LakeError, match=r"counter of writers[\s\S]*evolake lake verify --repair"):
        publish(lake, OTHER)
    assert Lake(lake.root).record("designs", "candidates", "0001") == record


def test_a_publication_leaves_no_lock_of_its_part(lake):
    with lake.line_lock("designs", run_id="run1"):
        for cycle in ("0001", "0002"):
            publish(lake, cycle=cycle)
            publish(lake, OTHER, cycle=cycle, run="run2")
    folder = lake.root / "locks"
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert left == ["_format.lock", "designs.lock", "designs.token", "designs/_manifests.lock"]
