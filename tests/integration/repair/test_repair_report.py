"""`evolake repair run` and `evolake repair report` as a user types them: a small study, its report from the
lake alone, and errors as sentences."""

import json
import subprocess
from pathlib import Path

import commands
import polars as pl
import pytest
from repair_study import environment, finished_study

from evolake.repair.names import DEFAULT_ARMS
from evolake.report.lines import read_findings


def evolake(lake: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return commands.evolake(*command, environment=environment(lake))


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """A lake that holds a small study."""
    root = tmp_path_factory.mktemp("study") / "lake"
    finished_study(root)
    return root


def test_the_report_is_rebuilt_from_the_lake_alone(lake, tmp_path):
    done = evolake(lake, "repair", "report", "--out", str(tmp_path / "report"), "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == "written"
    assert said["setting"].startswith("Proposer: operators, no model. 10 problems")
    assert all(Path(path).is_file() for path in said["files"])
    report = read_findings(lake)["repair"]
    assert report[1] == said["setting"] and report[3:-1] == [said["headline"], *said["reasons"]]
    assert read_findings(tmp_path) == {}
    summary = pl.read_parquet(tmp_path / "report" / "tables" / "summary.parquet")
    main = summary.filter((pl.col("suite") == "lia") & (pl.col("variation") == "none"))
    assert main["arm"].to_list() == list(DEFAULT_ARMS)
    assert set(main["runs"]) == {10}
    places = {("lia", name) for name in ("none", "scale", "permute", "relabel")} | {("sudoku4", "none")}
    assert set(summary.select("suite", "variation").iter_rows()) == places


def test_a_lake_without_a_study_says_what_to_run(tmp_path):
    done = evolake(tmp_path / "lake", "repair", "report", "--out", str(tmp_path / "report"))
    assert done.returncode == 2
    assert "this lake holds no repair study" in done.stderr
    assert "evolake repair run" in done.stderr
    assert not (tmp_path / "report").exists()
