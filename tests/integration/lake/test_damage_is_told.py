"""`status`, `sql`, `run` and `doctor` say that a manifest or a seal is damaged, with the command that mends
it; the table does not just vanish."""

import json
import shutil
import subprocess
from pathlib import Path

import commands
import pytest
from lake_damage import toy_lake


def evolake(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.evolake(*arguments, environment={"EVOLAKE_LAKE": str(root), "PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("damaged", ["manifest", "seal"])
def test_each_command_tells_it(tmp_path, damaged):
    root = toy_lake(tmp_path)
    if damaged == "manifest":
        path = root / "tables/ordered/candidates__artifacts/_manifest.jsonl"
        path.write_bytes(
            b"\n".join(
                line
                for line in path.read_bytes().split(b"\n")
                if b'"intent"' not in line and b'"commit"' not in line
            )
        )
        asked = "SELECT * FROM artifacts"
    else:
        (root / "seals/ordered/0003.json").write_text("{}")
        asked = "SELECT * FROM seals"
    for arguments in (["status"], ["sql", asked]):
        done = evolake(root, *arguments)
        assert (done.returncode, "evolake lake verify" in done.stderr, "Traceback" in done.stderr) == (
            3,
            True,
            False,
        ), done.stderr
    done = evolake(root, "sql", "SELECT count(*) FROM ordered.candidates")
    assert (done.returncode, "cannot be read" in done.stderr) == (0, True)


def test_no_cycle_is_run_on_a_table_whose_manifest_is_damaged(tmp_path):
    root = toy_lake(tmp_path)
    shutil.copytree(root / "tables/ordered", root / "tables/designs")
    manifest = root / "tables/designs/candidates__artifacts/_manifest.jsonl"
    manifest.write_bytes(b"")
    done = commands.evolake(
        "run",
        "--cycles",
        "1",
        "--lines",
        "designs",
        "--profile",
        "demo",
        environment={
            "EVOLAKE_LAKE": str(root),
            "DAGSTER_HOME": str(tmp_path / "home"),
            "PATH": "/usr/bin:/bin",
        },
    )
    summary = (
        done.returncode,
        "the table designs.candidates__artifacts" in done.stderr,
        "evolake lake verify --repair" in done.stderr,
    )
    assert summary == (3, True, True), done.stderr
    assert (manifest.read_bytes(), (tmp_path / "home").exists()) == (b"", False)


def test_a_lake_that_is_a_file_is_the_users_mistake(tmp_path):
    (tmp_path / "file").write_text("")
    for arguments in (["status"], ["lake", "verify"]):
        done = evolake(tmp_path / "file", *arguments)
        assert (done.returncode, "is no lake" in done.stderr) == (2, True), done.stderr


def test_the_doctor_says_in_one_line_what_is_damaged_and_what_to_run(tmp_path):
    from evolake.cli.doctor import _health

    root = toy_lake(tmp_path)
    assert (
        _health(root).detail
        == "a publication of ordered/late cycle 0001 was cut off; run: evolake lake verify --repair"
    )
    evolake(root, "lake", "verify", "--repair")
    assert _health(root).ok
    shutil.copy(root / "seals/ordered/0001.json", root / "seals/ordered/0004.json")
    result = _health(root)
    assert (result.ok, result.needed, result.mend) == (False, False, "evolake lake verify --repair")
    summary = json.loads(evolake(root, "lake", "verify", "--json").stdout)
    assert [finding["where"] for finding in summary["findings"] if not finding["note"]] == [
        "seals/ordered/0004.json"
    ]
