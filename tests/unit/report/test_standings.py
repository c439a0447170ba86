"""The table of all lines: a row for each, by what its package contributes alone, with the interval of its
gain or the word that there is none."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from repair_results import made_up_problems, made_up_results
from solver_lake import make_lake

from evolake.cli import cli
from evolake.errors import InputError
from evolake.lake import ARTIFACTS, CHAMPIONS, Lake, side_table
from evolake.repair.findings import analyse
from evolake.repair.report import artifacts as repair
from evolake.repair.report.material import StudyReport
from evolake.report import standings
from evolake.report.standing import COLUMNS, Standing
from evolake.report.standings import as_table


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Two cycles of solvers with a gain, and one of a line that no package registers."""
    root = tmp_path_factory.mktemp("lake")
    make_lake(root)
    lake = Lake(root)
    row = {
        "artifact_id": "b",
        "line": "bridges",
        "kind": "bridge",
        "cycle": "0001",
        "state": "champion",
        "content_sha": "c",
        "title": "a bridge",
    }
    champion = {"line": "bridges", "cycle": "0001", "artifact_id": "b", "score": 0.5}
    for schema, of_table in ((ARTIFACTS, row), (CHAMPIONS, champion)):
        lake.publish(
            "bridges",
            side_table("close", schema),
            schema.frame([of_table]),
            cycle="0001",
            run_id="r",
            schema=schema,
        )
    lake.seals.seal("bridges", "0001", "v1", None, "r")
    lake.seals.seal("bridges", "0002", "v2", "v1", "r")
    return root


def evolake(root: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, words, env={"EVOLAKE_LAKE": str(root)}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_every_line_of_the_lake_has_a_row_and_no_other_has_one(root):
    printed = json.loads(evolake(root, "status", "--table", "--json"))
    assert (printed["verdict"], printed["lake"]) == ("ok", str(root))
    rows = {row["line"]: row for row in printed["lines"]}
    assert list(rows) == ["bridges", "solvers"]
    solvers = rows["solvers"]
    assert (solvers["best"], solvers["start"], solvers["cycles"]) == ("<b>fast</b> (1.15)", "alpha (2.3)", 2)
    assert solvers["gain"] == "2.00 times lower cost (95% interval 1.90 to 2.10, 8 formulas)"
    assert (solvers["is_gain"], solvers["estimate"], solvers["low"], solvers["high"], solvers["level"]) == (
        True,
        2.0,
        1.9,
        2.1,
        0.95,
    )
    tables = ("smoke", "correctness", "benchmark_runs", "holdout_runs", "champion_trials")
    runs = (
        f"SELECT count(*) FROM ({' UNION ALL '.join(f'SELECT 1 FROM solvers.{table}' for table in tables)})"
    )
    assert solvers["evaluations"] == json.loads(evolake(root, "sql", "--json", runs))["rows"][0][0]
    assert solvers["seconds"] >= 0


def test_the_table_cuts_nothing_and_fits_its_width(root):
    text = evolake(root, "status", "--table")
    head, *rest = text.splitlines()
    assert tuple(head.split()) == COLUMNS
    assert max(map(len, text.splitlines())) <= 120
    words = " ".join(" ".join(rest).split())
    for word in ("bridges", "2.00", "times", "lower", "cost", "alpha", "measured"):
        assert word in words
    long = Standing(
        "toys", best="x" * 100, gain="none yet (" + "w" * 100 + ")", evaluations=12345, seconds=1234.5
    )
    table = as_table([long], 60)
    assert max(map(len, table.splitlines())) <= 60
    assert table.count("x") == 100 and table.count("w") == 100 and "12,345" in table and "1,234" in table


def test_an_empty_lake_says_how_to_begin(tmp_path):
    assert "Start with: evolake run" in evolake(tmp_path, "status", "--table")
    assert json.loads(evolake(tmp_path, "status", "--table", "--json"))["lines"] == []


def study(skill: Mapping[str, float]) -> StudyReport:
    problems = made_up_problems(40)
    results = made_up_results(problems, 1, skill=skill)
    return StudyReport(
        {"arms": list(skill)},
        problems,
        results,
        analyse(results, problems, candidates=4, rounds=4, root_seed=0),
    )


@pytest.mark.parametrize(("best", "is_gain"), [(0.95, True), (0.58, False)])
def test_the_study_compares_its_best_arm_with_mere_attempts(tmp_path, monkeypatch, best, is_gain):
    arms = (
        "one_shot",
        "multi_no_feedback",
        "multi_generic_feedback",
        "multi_unsat_core_feedback",
        "cd_vgs_core_rank",
    )
    report = study(dict(zip(arms, (0.1, 0.35, 0.3, 0.3, best), strict=True)))
    monkeypatch.setattr(repair, "read_report", lambda _: report)
    row = repair.standing(Standing("repair"), Lake(tmp_path), lambda *_: [])
    assert row is not None
    assert row.best.startswith("cd_vgs_core_rank (") and row.start.startswith("multi_no_feedback (")
    assert (row.is_gain, row.level) == (is_gain, 0.95)
    assert (
        row.low is not None
        and row.high is not None
        and row.estimate is not None
        and row.low <= row.estimate <= row.high
    )
    assert row.gain.startswith(
        "none yet ("
    ) != is_gain and "percentage points of problems solved (" in row.gain.replace(", 95", " (95")
    assert "95% interval" in row.gain and ", 40 problems" in row.gain
    assert row.evaluations == report.results["solver_calls"].sum()


def test_a_study_that_is_not_complete_has_no_row(tmp_path, monkeypatch):
    def unfinished(_: Path) -> StudyReport:
        raise InputError("the study is not finished")

    assert standings.standing_of(Lake(tmp_path), "repair") is None
    monkeypatch.setattr(repair, "read_report", unfinished)
    assert repair.standing(Standing("repair"), Lake(tmp_path), lambda *_: []) is None
