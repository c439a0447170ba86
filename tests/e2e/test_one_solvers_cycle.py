"""One cycle of the solvers line for real, by the command that users type: sealed, gated, proved, ranked. Two
cycles with a kill, submissions and edited rules are in test_solvers_line.py."""

from __future__ import annotations

import json

import pytest
from designs_fixtures import Project
from lake_damage import damage_of
from solvers_fixtures import SEED, open_project

pytestmark = pytest.mark.e2e
RUNS = ("smoke", "correctness", "benchmark_runs")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = open_project(tmp_path_factory.mktemp("one-cycle"), EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE="1")
    assert "solvers: cycle 1 of 1 in " in project.run("run", "--cycles", "1", "--lines", "solvers").stdout
    return project


def test_the_cycle_is_sealed_and_names_a_champion_and_every_variant_descends_from_the_seed(project):
    assert project.sql("SELECT cycle, state FROM seals ORDER BY cycle") == [
        ["0001", "sealed"],
        ["0002", "sealed"],
    ]
    champion = json.loads(project.run("champion", "solvers", "--json").stdout)
    assert champion["verdict"] == "champion"
    [[found]] = project.sql("SELECT variant_id FROM solvers.survivors WHERE state = 'champion'")
    assert champion["artifact_id"] == found
    for [variant] in project.sql("SELECT variant_id FROM solvers.variants"):
        assert [row[0] for row in project.sql(f"SELECT title FROM ancestors('{variant}')")] == [SEED]


def test_no_answer_is_wrong_and_an_unsat_answer_counts_only_with_a_verified_proof(project):
    for name in RUNS:
        runs = project.sql(f"SELECT status, answer, solved, proof_status, certificate FROM solvers.{name}")
        assert runs
        assert [run for run in runs if run[0] == "wrong" or (run[2] and run[4] is None)] == [], name
        assert {run[3] for run in runs if run[1] == "UNSAT" and run[2]} <= {"verified"}, name
    assert ["verified"] in project.sql("SELECT DISTINCT proof_status FROM solvers.benchmark_runs")


def test_the_lake_is_intact(project):
    assert damage_of(project.lake) == []


def test_every_variant_was_judged_and_only_accepted_ones_are_ranked(project):
    made = {row[0] for row in project.sql("SELECT variant_id FROM solvers.variants")}
    assert len(made) == 1
    outcomes = project.sql("SELECT artifact_id, bool_or(outcome = 'block') FROM verdicts GROUP BY ALL")
    blocked = {variant for variant, is_blocked in outcomes if is_blocked}
    assert made <= {variant for variant, _ in outcomes}
    [[seed]] = project.sql("SELECT variant_id FROM solvers.seeds")
    assert {row[0] for row in project.sql("SELECT variant_id FROM solvers.consensus_ranking")} == (
        made | {seed}
    ) - blocked


def test_random_options_of_the_seed_ran_next_to_the_variants(project):
    asked = "SELECT solver, settings, ratio, champion_ratio, cpu_s, line_cpu_s FROM solvers.control"
    ran = project.sql(
        "SELECT variant_id FROM solvers.benchmark_runs JOIN solvers.variants USING (variant_id)"
    )
    rows = project.sql(asked)
    assert len(rows) == bool(ran)
    for solver, settings, ratio, champion, seconds, line in rows:
        assert solver == SEED and settings >= 1 and ratio >= 1 and champion > 0
        assert seconds >= 0.25 * line > 0


def test_status_and_report_show_it(project, tmp_path):
    status = json.loads(project.run("status", "--json").stdout)
    assert [(row["line"], row["sealed_cycles"], row["broken"]) for row in status["lines"]] == [
        ("solvers", 1, None)
    ]
    project.run("report", "--out", str(tmp_path / "report.html"))
    report = (tmp_path / "report.html").read_text()
    assert "Cycle 0001 of the solvers line" in report
    assert f" of {SEED} in " in report or not project.sql("FROM solvers.control")
