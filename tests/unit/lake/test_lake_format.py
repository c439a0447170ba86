"""A lake says which format it is of: a newer one and an older one are refused before anything is read; one
that lost its marker is marked again."""

import json
from concurrent.futures import ThreadPoolExecutor

import dagster as dg
import polars as pl
import pytest
from click.testing import CliRunner
from lake_damage import toy_lake

from evolake import __version__
from evolake.cli import cli
from evolake.errors import InputError, LakeError
from evolake.lake import BlobStore, Lake
from evolake.lake.lake_format import FORMAT, MARKER
from resources.lake import LakeResource

ROWS = pl.DataFrame({"x": [1]})
NEWER = json.dumps({"format": FORMAT + 1, "evolake": "9.1.0", "read_by": "9.0.0"})


def marked(root) -> dict[str, object]:
    return json.loads((root / MARKER).read_text())


@pytest.mark.parametrize(
    "write",
    [
        lambda root: Lake(root).publish("line", "asset", ROWS, cycle="0001", run_id="run"),
        lambda root: Lake(root).seals.seal("line", "0001", "v", None, "run"),
        lambda root: BlobStore(root).put(b"bytes"),
    ],
    ids=["a table", "a seal", "a blob"],
)
def test_the_first_write_marks_the_lake(tmp_path, write):
    root = tmp_path / "lake"
    Lake(root)
    assert not root.exists()
    write(root)
    got = marked(root)
    assert got | {"id": "", "check": ""} == {
        "format": FORMAT,
        "evolake": __version__,
        "read_by": "0.2.0",
        "id": "",
        "check": "",
    }
    assert Lake(root).id == got["id"] != ""
    assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []
    written = (root / MARKER).stat().st_mtime_ns
    write(root)
    assert (root / MARKER).stat().st_mtime_ns == written


def test_a_lake_that_lost_its_marker_is_read_as_it_is_and_marked_at_the_next_write(tmp_path):
    root = toy_lake(tmp_path)
    (root / MARKER).unlink()
    lake = Lake(root)
    assert lake.cycles("ordered", "candidates") and not (root / MARKER).exists()
    lake.publish("ordered", "fresh", ROWS, cycle=None, run_id="run")
    assert marked(root)["format"] == FORMAT


def test_a_lake_of_before_ids_gets_one_at_its_next_write_and_keeps_it(tmp_path):
    root = toy_lake(tmp_path)
    before = marked(root)
    assert "id" not in before and Lake(root).cycles("ordered", "candidates")
    with ThreadPoolExecutor(4) as threads:
        ids = set(threads.map(lambda _: Lake(root).id, range(8)))
    assert ids == {marked(root)["id"]} and marked(root).items() >= before.items()
    Lake(root).publish("ordered", "fresh", ROWS, cycle=None, run_id="run")
    assert {marked(root)["id"]} == ids


def older(root) -> None:
    (root / MARKER).write_text(
        json.dumps({"format": FORMAT - 1, "evolake": "0.2.0.dev0", "read_by": "0.2.0"})
    )


def test_a_lake_of_an_older_format_is_refused_by_every_command_and_left_alone(tmp_path, monkeypatch):
    root = toy_lake(tmp_path)
    older(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    monkeypatch.setenv("EVOLAKE_LAKE", str(root))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    for words in commands(root, tmp_path / "out"):
        error = CliRunner().invoke(cli, words, standalone_mode=False).exception
        assert isinstance(error, InputError) and error.exit_code == 2, (words, error)
        assert str(error) == (
            f"the lake {root} is of format 2, which commit 2474d774 of evolake reads; "
            "this one reads format 3\n"
            "  next: name a new lake (EVOLAKE_LAKE), or check out that commit to read this one"
        ), words
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "out").exists()


def test_an_asset_in_a_lake_of_an_older_format_fails_with_the_same_sentence(tmp_path, monkeypatch):
    from pipelines.definitions import defs

    root = toy_lake(tmp_path)
    older(root)
    monkeypatch.setenv("EVOLAKE_LAKE", str(root))
    with (
        dg.DagsterInstance.ephemeral() as instance,
        pytest.raises(InputError, match="is of format 2, which commit 2474d774 of evolake reads"),
    ):
        defs.resolve_job_def("prompts_seeds").execute_in_process(instance=instance)


def commands(root, out) -> list[list[str]]:
    seeds = "data_lake/seeds"
    return [
        ["status"],
        ["sql", "SELECT 1"],
        ["champion", "designs"],
        ["report", "--out", str(out)],
        ["guide", "--list"],
        ["guide", "text"],
        ["lake", "verify"],
        ["lake", "verify", "--repair"],
        ["run"],
        ["families", "export", "--format", "jsonl", "--out", str(out)],
        ["families", "gallery", "--evolved", "--out", str(out)],
        ["repair", "report", "--out", str(out)],
        ["repair", "run", "--problems", "6"],
        ["designs", "merge", str(root)],
        ["solvers", "bench", f"{seeds}/solvers", "--suite", "smoke", "--adapter", "minisat22"],
    ]


def test_a_newer_format_is_refused_by_every_command_and_says_which_version_reads_it(tmp_path, monkeypatch):
    root = toy_lake(tmp_path)
    (root / MARKER).write_text(NEWER)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    monkeypatch.setenv("EVOLAKE_LAKE", str(root))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    for words in commands(root, tmp_path / "out"):
        error = CliRunner().invoke(cli, words, standalone_mode=False).exception
        assert isinstance(error, InputError) and error.exit_code == 2, (words, error)
        assert f"format {FORMAT + 1}, written by evolake 9.1.0" in str(
            error
        ) and "use evolake 9.0.0 or newer" in str(error), words
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"format": "1", "evolake": "a", "read_by": "b"}',
        '{"format": 0}',
        "\ufffe",
        "[" * 9000,
    ],
)
def test_a_damaged_marker_is_an_error_and_no_guess(tmp_path, text):
    (tmp_path / MARKER).write_text(text)
    with pytest.raises(LakeError, match="is damaged"):
        Lake(tmp_path)


@pytest.mark.parametrize("below", ["", "lake"])
def test_a_lake_path_that_is_a_file_is_an_input_error(tmp_path, below):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is no lake"):
        Lake(tmp_path / "file" / below)


@pytest.mark.parametrize(
    "command", [("verify",), ("verify", "--repair"), ("gc",), ("gc", "--yes")], ids=" ".join
)
def test_a_folder_that_is_no_lake_is_refused_and_left_alone(tmp_path, monkeypatch, command):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    error = CliRunner().invoke(cli, ["lake", *command], standalone_mode=False).exception
    assert isinstance(error, InputError) and (error.what, error.got) == (
        f"{tmp_path} is no lake",
        "a folder in which no evolake has written",
    )
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine.txt", "notes"]


def test_a_newer_format_is_refused_by_dagsters_resource(tmp_path):
    (tmp_path / MARKER).write_text(NEWER)
    with pytest.raises(InputError, match="use evolake 9.0.0 or newer"):
        LakeResource(root=str(tmp_path)).open()
