"""`evolake repair run` and `evolake repair report` as a user types them: a small study, its report from the
lake alone, and errors as sentences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import commands
import polars as pl
import pytest
from repair_study import SMALL, finished_study

from evolake.lake import Lake
from evolake.repair.names import ARMS, INFORMED, KNOWN_ARMS, WHOLE_CONFLICT
from evolake.repair.running import read_study
from evolake.report.lines import read_findings


def evolake(lake: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    program = str(Path(sys.executable).with_name("evolake"))
    environment = clean | {"EVOLAKE_LAKE": str(lake), "EVOLAKE_WORKERS": "2"} | more
    if command[:2] == ("repair", "run"):  # it starts workers
        return subprocess.run(
            [program, *command], env=environment, capture_output=True, text=True, check=False
        )
    return commands.evolake(*command, environment=environment)


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
    assert main["arm"].to_list() == list(ARMS)
    assert set(main["runs"]) == {10}
    places = {("lia", name) for name in ("none", "scale", "permute", "relabel")} | {("sudoku4", "none")}
    assert set(summary.select("suite", "variation").iter_rows()) == places


def test_a_study_that_was_there_is_given_the_opt_in_arms_and_keeps_what_it_had(tmp_path):
    root = tmp_path / "lake"
    finished_study(root)
    before = {arm: Lake(root).record("repair", "results", f"{arm}-0") for arm in ARMS}
    seven = {"EVOLAKE_REPAIR__ARMS": json.dumps(KNOWN_ARMS)}
    done = evolake(root, "repair", "run", *SMALL, "--json", **seven)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["ran"], said["kept"]) == (
        [f"{arm}-0" for arm in KNOWN_ARMS if arm not in ARMS],
        [f"{arm}-0" for arm in ARMS],
    )
    assert {arm: Lake(root).record("repair", "results", f"{arm}-0") for arm in ARMS} == before

    report = evolake(root, "repair", "report", "--out", str(tmp_path / "report"), "--json")
    summary = json.loads(report.stdout)
    assert (
        report.returncode == 0
        and "each of the six compute-matched arms" in summary["setting"]
        and len(summary["reasons"]) == 11
    )
    assert summary["pdf"].startswith(("none: ", str(tmp_path)))
    tables = {
        name: pl.read_parquet(tmp_path / "report" / "tables" / f"{name}.parquet")
        for name in ("summary", "comparisons", "robustness")
    }
    assert tables["summary"].filter(pl.col("suite") == "sudoku4")["arm"].to_list() == list(KNOWN_ARMS)
    assert tables["comparisons"].height == 30 and set(tables["robustness"]["arm"]) == set(KNOWN_ARMS)
    budgets = (
        tables["summary"]
        .filter(pl.col("arm") != "one_shot")
        .select((pl.col("calls") <= 16 * pl.col("runs")).all(), pl.col("problems").min())
    )
    assert budgets.row(0)[0] and (tables["summary"]["budget_exceeded"] == 0).all()
    attempts = read_study(Lake(root)).attempts.filter(
        (pl.col("arm") == WHOLE_CONFLICT) & (pl.col("verdict") == "refuted")
    )
    cores = [json.loads(core) for core in attempts.filter(pl.col("claim") == "sat")["core"]]
    assert any(sum("=" not in member for member in core) > 1 for core in cores) and all(
        "=" in core[-1] for core in cores
    )
    words = evolake(root, "repair", "report", "--out", str(tmp_path / "again")).stdout
    assert f"PDF: {summary['pdf']}".replace("report/", "again/") in words and INFORMED in words


def test_a_lake_without_a_study_says_what_to_run(tmp_path):
    done = evolake(tmp_path / "lake", "repair", "report", "--out", str(tmp_path / "report"))
    assert done.returncode == 2
    assert "this lake holds no repair study" in done.stderr
    assert "evolake repair run" in done.stderr
    assert not (tmp_path / "report").exists()
