"""Two processes write one partition: each publication is won by one, the other is told who holds it, and
readers always see one whole."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evolake.errors import PartitionBusy
from evolake.lake import Lake, disk
from evolake.lake.layout import Partition

WRITER = Path(__file__).with_name("racing_writer.py")
TIMES = 60


@pytest.fixture(autouse=True)
def no_hook_left():
    yield
    disk.hook = None


def test_two_processes_that_write_one_partition_never_mix(tmp_path):
    start = tmp_path / "start"
    words = [sys.executable, str(WRITER), str(tmp_path / "lake")]
    writers = [
        subprocess.Popen([*words, name, str(start), str(TIMES)], stdout=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "ready\n"
    start.touch()
    lake, seen = Lake(tmp_path / "lake"), 0
    while any(writer.poll() is None for writer in writers):
        if lake.cycles("designs", "candidates"):
            _assert_whole(lake.read("designs", "candidates", "0001"))
            seen += 1
    parts = [json.loads(writer.communicate()[0]) for writer in writers]

    assert seen > 0
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [each["won"] + each["busy"] for each in parts] == [TIMES, TIMES]
    log = lake.verifier.log(Partition(lake.root, "designs", "candidates", "0001"))
    assert len(log.commits) == sum(each["won"] for each in parts)
    assert log.pending == ()
    _assert_whole(lake.read("designs", "candidates", "0001"))
    assert not (tmp_path / "lake/quarantine").exists()


def _assert_whole(frame: pl.DataFrame) -> None:
    assert frame["writer"].n_unique() == 1
    assert frame["row"].to_list() == list(range(2000))


def test_the_loser_is_told_who_holds_the_partition(tmp_path):
    holder, other = Lake(tmp_path), Lake(tmp_path, lock_timeout_s=0)
    caught = []

    def try_to_cut_in(operation: str, path: Path) -> None:
        if operation == "replace" and path.name == "part.parquet":
            disk.hook = None
            with pytest.raises(PartitionBusy) as error:
                other.publish("designs", "candidates", pl.DataFrame({"x": [2]}), cycle="0001", run_id="loser")
            caught.append(str(error.value))

    disk.hook = try_to_cut_in
    holder.publish("designs", "candidates", pl.DataFrame({"x": [1]}), cycle="0001", run_id="winner")
    assert len(caught) == 1
    assert "designs/candidates cycle 0001 is busy" in caught[0]
    assert "run winner" in caught[0]
    assert "run loser" in caught[0]
    assert other.read("designs", "candidates", "0001").to_dicts() == [{"x": 1}]


def test_a_writer_that_lost_its_lock_to_a_newer_one_fails_clean(tmp_path):
    stale, newer = Lake(tmp_path), Lake(tmp_path)
    stale.publish("designs", "candidates", pl.DataFrame({"x": [0]}), cycle="0001", run_id="before")

    def lose_the_lock(operation: str, path: Path) -> None:
        if operation == "link":
            disk.hook = None
            Partition(
                tmp_path, "designs", "candidates", "0001"
            ).lock.unlink()  # as a file system that forgets locks would
            newer.publish("designs", "candidates", pl.DataFrame({"x": [2]}), cycle="0001", run_id="newer")

    disk.hook = lose_the_lock
    with pytest.raises(PartitionBusy, match="lost its lock to a newer writer"):
        stale.publish("designs", "candidates", pl.DataFrame({"x": [1]}), cycle="0001", run_id="stale")
    reader = Lake(tmp_path)
    assert reader.read("designs", "candidates", "0001").to_dicts() == [{"x": 2}]
    assert reader.record("designs", "candidates", "0001").run_id == "newer"  # type: ignore[union-attr]
    assert list(tmp_path.rglob("part.parquet")) == [reader.record("designs", "candidates", "0001").path]  # type: ignore[union-attr]
    assert not (tmp_path / "quarantine").exists()
