"""Cells of a study: equal budgets, equal bytes however the work is cut up, and rows that fit their tables."""

import json
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from repair_cases import posed

from evolake import settings as settings_module
from evolake.cells import MAX_SEED
from evolake.errors import InputError, MachineryError
from evolake.lake import Lake
from evolake.repair import cells as cells_module
from evolake.repair.cells import BenchmarkProblem, CellRows, Study, is_finished, publish_cell, run_cell
from evolake.repair.generator import generate
from evolake.repair.names import (
    ARMS,
    CONTROLS,
    INFORMED,
    KNOWN_ARMS,
    ONE_SHOT,
    OPT_IN_ARMS,
    SHUFFLED,
    WHOLE_CONFLICT,
)
from evolake.repair.running import publish_study, read_study
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import ATTEMPTS, RESULTS, cell_of
from evolake.repair.trial import Budget, RoundPlan, call_number, plan_of

K, R = 3, 4
SETTINGS = settings_module.settings_type()(backend="operators")


@pytest.fixture(scope="module")
def study() -> Study:
    entries = tuple(BenchmarkProblem(item.problem) for item in generate(15, 0))
    return Study(entries, K, R, 1500, "operators", "operators", 0)


@pytest.fixture(scope="module")
def cells(study, tmp_path_factory) -> dict[str, CellRows]:
    return {
        arm: run_cell(study, cell_of(arm, 1), SETTINGS, tmp_path_factory.mktemp("lake"), "run-1")
        for arm in KNOWN_ARMS
    }


def frames(rows: CellRows) -> tuple[pl.DataFrame, pl.DataFrame]:
    return RESULTS.frame(rows.results).drop(RESULTS.provenance), ATTEMPTS.frame(rows.attempts)


def test_every_matched_arm_has_the_same_budget_and_spends_it_all_where_it_does_not_solve(cells):
    matched = [arm for arm in KNOWN_ARMS if arm != ONE_SHOT]
    assert set(matched) == {*ARMS[1:], *CONTROLS, *OPT_IN_ARMS}
    assert {plan_of(arm, K, R).calls for arm in matched} == {K * R}
    for arm in matched:
        for row in cells[arm].results:
            assert row["budget_exceeded"] is False
            assert row["calls"] == K * row["rounds"]
            assert row["solver_calls"] <= row["calls"] <= K * R
            if not row["solved"]:
                assert (row["calls"], row["rounds"]) == (K * R, R)
    assert {(row["calls"], row["rounds"]) for row in cells["one_shot"].results} == {(1, 1)}


def test_counts_of_a_row_are_those_of_its_attempts(cells):
    for rows in cells.values():
        results, attempts = frames(rows)
        counted = (
            attempts.group_by("problem_id")
            .agg(
                calls=pl.len(),
                solver_calls=pl.col("solver_calls").sum(),
                parse_failures=(~pl.col("parsed")).sum(),
                solved=(pl.col("verdict") == "certified").any(),
            )
            .cast({"calls": pl.Int64, "parse_failures": pl.Int64})
        )
        joined = results.select("problem_id", "calls", "solver_calls", "parse_failures", "solved").join(
            counted, on="problem_id"
        )
        for name in ("calls", "solver_calls", "parse_failures", "solved"):
            assert joined[name].to_list() == joined[f"{name}_right"].to_list(), name


def test_a_solved_row_rests_on_one_certified_attempt_that_agrees_with_the_label(study, cells):
    labels = {entry.problem.id: entry.problem.label for entry in study.entries}
    solved = 0
    for rows in cells.values():
        results, attempts = frames(rows)
        for row in results.filter("solved").iter_rows(named=True):
            solved += 1
            won = attempts.filter(
                (pl.col("problem_id") == row["problem_id"]) & (pl.col("verdict") == "certified")
            ).row(0, named=True)
            assert row["certified_status"] == row["claim"] == won["claim"] == labels[row["problem_id"]]
            assert (
                row["first_certified_call"]
                == (won["round"] - 1) * (K if row["arm"] != "one_shot" else 1) + won["candidate"]
            )
        assert (
            results.filter(~pl.col("solved"))["certified_status"].null_count()
            == results.filter(~pl.col("solved")).height
        )
    assert solved > 10


def test_keys_are_unique_and_every_attempt_names_its_prompt_and_reply(cells):
    results = pl.concat([frames(rows)[0] for rows in cells.values()])
    attempts = pl.concat([frames(rows)[1] for rows in cells.values()])
    assert RESULTS.repeated_keys(results).is_empty() and ATTEMPTS.repeated_keys(attempts).is_empty()
    assert attempts["prompt_sha"].null_count() == attempts["reply_sha"].null_count() == 0
    assert set(attempts["verdict"].unique()) <= {"certified", "refuted", "unknown", "malformed", None}
    said = attempts.filter((pl.col("claim") == "sat") & (pl.col("arm") != WHOLE_CONFLICT))
    assert all(
        set(json.loads(row["core"])) <= set(json.loads(row["violated"])) for row in said.iter_rows(named=True)
    )


@pytest.mark.parametrize("arm", ["cd_vgs_core_rank", SHUFFLED])
def test_the_same_cell_has_the_same_content_however_the_work_is_cut(study, cells, tmp_path, monkeypatch, arm):
    monkeypatch.setattr(cells_module, "CHUNK", 4)
    with ThreadPoolExecutor(2) as executor:
        cut = run_cell(study, cell_of(arm, 1), SETTINGS, tmp_path, "run-2", executor=executor)
    whole = cells[arm]
    assert cut.calls == whole.calls
    for first, other in zip(frames(cut), frames(whole), strict=True):
        assert first.equals(other)


def test_a_published_cell_is_finished_for_its_own_study_alone(study, cells, tmp_path):
    lake = Lake(tmp_path)
    assert not is_finished(lake, "one_shot-1", study)
    publish_cell(lake, "one_shot-1", cells["one_shot"], "run-1")
    assert is_finished(lake, "one_shot-1", study)
    larger = Study(study.entries, K, R + 1, 1500, "operators", "operators", 0)
    assert not is_finished(lake, "one_shot-1", larger)
    assert lake.read("repair", "results__agent_calls", "one_shot-1").height == 15


def test_cells_of_arms_that_the_record_does_not_name_are_left_out_and_those_of_before_are_kept(
    study, cells, tmp_path
):
    lake, problems = Lake(tmp_path), [item.row() for item in generate(15, 0)]
    for arm in (WHOLE_CONFLICT, "one_shot"):
        publish_cell(lake, f"{arm}-1", cells[arm], "run-1")
    publish_study(lake, study, problems, ["one_shot"], [1], "run-1")
    assert set(read_study(lake).results["arm"]) == set(read_study(lake).attempts["arm"]) == {"one_shot"}
    publish_study(lake, study, problems, [INFORMED, WHOLE_CONFLICT], [1], "run-2")
    assert read_study(lake).study["arms"] == ["one_shot", INFORMED, WHOLE_CONFLICT], (
        "an opt-in arm joins a study that was there"
    )
    assert set(read_study(lake).results["arm"]) == {"one_shot", WHOLE_CONFLICT}


def test_a_lake_without_a_study_says_how_to_run_one(tmp_path):
    with pytest.raises(InputError, match="evolake repair run"):
        read_study(Lake(tmp_path))


def test_what_decides_the_rows_is_in_the_studys_sha(study):
    others = [
        Study(study.entries[:-1], K, R, 1500, "operators", "operators", 0), Study(study.entries, K + 1, R, 1500, "operators", "operators", 0),  # noqa: E501
        Study(study.entries, K, R, 1000, "operators", "operators", 0), Study(study.entries, K, R, 1500, "model", "m", 0),  # noqa: E501
        Study(study.entries, K, R, 1500, "operators", "operators", 1), Study(study.entries, K, R, 1500, "operators", "operators", 0, (100, 0.5)),  # noqa: E501
    ]  # fmt: skip
    assert len({study.sha, *(other.sha for other in others)}) == 7


def test_no_two_arms_or_seeds_share_the_number_of_a_call():
    numbers = [
        call_number(arm, seed, round_, slot)
        for arm in KNOWN_ARMS
        for seed in (0, 1, 2, MAX_SEED)
        for round_ in (0, 1, 63)
        for slot in (0, 63)
    ]
    assert len(set(numbers)) == len(numbers) and max(numbers) < 2**63


def test_a_budget_cannot_be_passed():
    budget = Budget(RoundPlan(2, 1))
    budget.take_calls(2)
    budget.take_solver_call()
    budget.take_solver_call()
    with pytest.raises(MachineryError, match="solver calls"):
        budget.take_solver_call()
    with pytest.raises(MachineryError, match="model calls"):
        budget.take_calls(1)


def test_a_certified_answer_against_the_label_stops_the_machinery(tmp_path):
    problem = posed({"x1": (0, 1)}, label="unsat")
    wrong = Study((BenchmarkProblem(problem),), K, R, 1500, "operators", "operators", 0)
    with pytest.raises(MachineryError, match="contradicts its label"):
        run_cell(wrong, "multi_no_feedback-0", SETTINGS, tmp_path, "run-1")


def test_the_arms_of_a_study_are_a_setting_and_the_papers_five_with_controls_by_default(monkeypatch):
    assert set(RepairSettings().arms) == {*ARMS, *CONTROLS} and len(ARMS) == 5
    monkeypatch.setenv("EVOLAKE_REPAIR__ARMS", json.dumps([*reversed(KNOWN_ARMS), ARMS[0]]))
    assert settings_module.load().of(RepairSettings).arms == list(KNOWN_ARMS)
    for wrong in ("[]", '["two_shot"]', '"one_shot"'):
        monkeypatch.setenv("EVOLAKE_REPAIR__ARMS", wrong)
        with pytest.raises(InputError, match="repair.arms"):
            settings_module.load()
