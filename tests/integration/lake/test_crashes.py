"""A writer that ends at any operation leaves the old content whole or the new; a re-run gives the same
bytes."""

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evolake.errors import LakeError
from evolake.lake import Catalogue, Lake, disk

DRIVER = Path(__file__).with_name("crash_driver.py")
OLD = pl.DataFrame({"design": ["a", "b", None], "score": [1.0, float("nan"), 3.0]})
NEW = pl.DataFrame({"design": ["c", "d"], "score": [4.0, 5.0]})


@pytest.fixture(autouse=True)
def no_hook_left():
    yield
    disk.hook = None


@pytest.mark.parametrize(("how", "which"), [("kill", "first"), ("exit", "second")])
def test_a_writer_that_dies_at_any_operation_leaves_old_or_new_content_whole(tmp_path, how, which):
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path), how, which], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    died = report[:-1]
    before = "old" if which == "second" else "nothing"

    assert len(died) > 25
    assert {entry["ended"] for entry in died} == {signal.SIGKILL if how == "kill" else 9 << 8}
    assert report[-1]["ended"] == 0
    replaced = max(i for i, entry in enumerate(died) if entry["operation"] == "replace")
    assert [entry["after"] for entry in died] == [before] * (replaced + 1) + ["new"] * (
        len(died) - replaced - 1
    )
    shas = {entry["again"][0] for entry in report}
    assert len(shas) == 1
    assert [entry["again"][1:] for entry in report] == [["new", []]] * len(report)


def fail_at(number: int, *, for_good: bool):
    """A hook that makes operation `number` fail, or that and all after it; its count is in `count`."""

    def hook(operation: str, path: Path) -> None:
        hook.count += 1
        if hook.count == number or (for_good and hook.count > number):
            raise OSError(5, "planted failure", str(path))

    hook.count = 0
    return hook


@pytest.mark.parametrize("for_good", [False, True])
def test_an_operation_that_fails_is_an_error_and_leaves_old_or_new_content_whole(tmp_path, for_good):
    intact = (
        Lake(tmp_path / "intact")
        .publish("designs", "candidates", NEW, cycle="0001", run_id="any")
        .path.read_bytes()
    )
    outcomes = []
    for number in range(1, 200):
        root = tmp_path / str(number)
        Lake(root).publish("designs", "candidates", OLD, cycle="0001", run_id="before")
        disk.hook = hook = fail_at(number, for_good=for_good)
        failed = False
        try:
            Lake(root).publish("designs", "candidates", NEW, cycle="0001", run_id="failing")
        except LakeError as error:
            failed = True
            assert "planted failure" in str(error)
        disk.hook = None
        result = Lake(root).read("designs", "candidates", "0001")
        if result.equals(OLD):
            outcome = "old"
        elif result.equals(NEW):
            outcome = "new"
        else:
            outcome = "neither"
        outcomes.append(outcome)
        again = Lake(root).publish("designs", "candidates", NEW, cycle="0001", run_id="again")
        assert again.path.read_bytes() == intact
        assert list((root / "tables").rglob(".tmp-*")) == []
        if hook.count < number:
            break
        assert failed
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {"old", "new"}


def test_superseded_content_survives_every_failure(tmp_path):
    for number in range(1, 200):
        lake = Lake(tmp_path / str(number))
        lake.publish("designs", "candidates__derivations", _edge("old"), cycle="0001", run_id="before")
        disk.hook = hook = fail_at(number, for_good=False)
        with contextlib.suppress(LakeError):
            lake.publish("designs", "candidates__derivations", _edge("new"), cycle="0001", run_id="failing")
        disk.hook = None
        lake.publish("designs", "candidates__derivations", _edge("new"), cycle="0001", run_id="again")
        if number % 5 == 0 or hook.count < number:
            with Catalogue(lake) as catalogue:
                rows = catalogue.query("SELECT child_id, superseded FROM derivations_all ORDER BY 1").rows
            assert rows == [("new", False), ("old", True)]
        if hook.count < number:
            return
    raise AssertionError("no run came through clean")


def _edge(child: str) -> pl.DataFrame:
    from evolake.lake import DERIVATIONS

    return DERIVATIONS.frame(
        [{"child_id": child, "parent_id": "root", "operator": "swap", "weight": 1.0, "cycle": "0001"}]
    )


def test_a_compaction_that_is_killed_at_any_operation_loses_nothing_and_the_next_one_ends_it(tmp_path):
    driver = DRIVER.with_name("killed_compaction.py")
    done = subprocess.run(
        [sys.executable, str(driver), str(tmp_path)], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)

    assert {entry["ended"] for entry in report[:-1]} == {signal.SIGKILL}
    assert report[-1]["ended"] == 0
    died_at = {entry["operation"].split()[0] for entry in report[:-1]}
    assert {"create", "replace", "append", "remove"} <= died_at
    assert any("checkpoint" in entry["operation"] for entry in report[:-1])
    assert [entry["after"] for entry in report] == ["whole"] * len(report)
    assert [entry["again"][:2] for entry in report] == [["whole", 1]] * len(report)
    assert {what for entry in report for what in entry["again"][2]} <= {"a dead writer left a temporary file"}
