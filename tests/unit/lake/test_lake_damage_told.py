"""A damaged manifest is told by the commands that people type, before any work; a publication under way is
none."""

import json
import threading
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from lake_damage import toy_lake

from evolake.cli import cli
from evolake.errors import LakeError
from evolake.lake import Lake
from evolake.lake.inventory import check_ready, damaged_tables

TABLE = "ordered.candidates"
DAMAGE = {
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "noise": lambda data: bytes(range(256)) * 4,
    "a flipped bit": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 4]) + data[len(data) // 2 + 1 :]
    ),
    "a line of another file": lambda data: data + b'{"event":"commit"}\n',
}


@pytest.fixture(params=DAMAGE)
def damaged(request, tmp_path, monkeypatch) -> Path:
    root = toy_lake(tmp_path)
    path = root / "tables" / "ordered" / "candidates" / "_manifest.jsonl"
    path.write_bytes(DAMAGE[request.param](path.read_bytes()))
    monkeypatch.setenv("EVOLAKE_LAKE", str(root))
    return root


def test_other_lines_can_run_beside_a_damaged_one(damaged):
    check_ready(damaged, ["families"])
    with pytest.raises(LakeError, match=f"the table {TABLE} of the lake is damaged"):
        check_ready(damaged, ["families", "ordered"])


def test_a_table_that_is_published_meanwhile_is_no_damage(tmp_path):
    stop = threading.Event()

    def publish():
        for number in range(12):
            Lake(tmp_path).publish(
                "line", f"asset_{number}", pl.DataFrame({"x": [number]}), cycle="0001", run_id="run"
            )
        stop.set()

    writer = threading.Thread(target=publish)
    writer.start()
    result: dict[str, LakeError] = {}
    while not stop.is_set():
        result |= damaged_tables(tmp_path)
    writer.join()
    assert result == {} and len(list(Lake(tmp_path).assets())) == 12


def test_a_lake_that_cannot_be_written_is_told_before_any_work(tmp_path, monkeypatch):
    from evolake.lake import disk

    def full(operation: str, path: Path) -> None:
        if operation == "write":
            raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(disk, "hook", full)
    with pytest.raises(LakeError, match="cannot be written to.*\n.*\n.*No space left"):
        check_ready(tmp_path / "lake")
    monkeypatch.setattr(disk, "hook", None)
    assert list((tmp_path / "lake").iterdir()) == []


def test_status_sql_and_run_say_which_table_and_what_to_do(damaged):
    done = CliRunner().invoke(cli, ["status"], standalone_mode=False)
    assert (
        done.return_value == 3
        and f"the table {TABLE} is damaged" in done.stderr
        and "evolake lake verify --repair" in done.stderr
    )
    assert "ordered: " in done.stdout
    summary = json.loads(CliRunner().invoke(cli, ["status", "--json"], standalone_mode=False).stdout)
    assert (summary["verdict"], [table["table"] for table in summary["damaged"]]) == ("damaged", [TABLE])
    assert "evolake lake verify --repair" in summary["damaged"][0]["next"]
    for words in (["sql", f"SELECT * FROM {TABLE}"], ["run"]):
        error = CliRunner().invoke(cli, words, standalone_mode=False).exception
        assert (
            isinstance(error, LakeError)
            and "manifest" in str(error)
            and "evolake lake verify --repair" in str(error)
        ), words
    listed = CliRunner().invoke(cli, ["sql", "--list"], standalone_mode=False)
    assert TABLE in listed.stderr and "evolake lake verify --repair" in listed.stderr
