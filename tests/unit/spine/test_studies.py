"""A study under the policy of the project: cells as static partitions, three groups with a job each, findings
only over cells that passed."""

from __future__ import annotations

import sys

import dagster as dg
import polars as pl
import pytest

from assets.checks import suite_check
from assets.study import Study
from evolake.errors import InputError
from evolake.lines import LineSpec
from pipelines.lines import BuiltStudy, built_lines
from pipelines.policy import define
from resources.lake import LakeResource

TOY = Study("toystudy", "A toy study.", owners=("team:toys",), cells=("left-0", "left-1", "right-0"))
spoil: list[str] = []


@TOY.setup_asset()
def material() -> pl.DataFrame:
    return pl.DataFrame({"n": [3]})


@TOY.cell_asset()
def outcomes(context: dg.AssetExecutionContext, material: pl.DataFrame) -> pl.DataFrame:
    """One row; of a spoilt cell two."""
    rows = 2 if context.partition_key in spoil else 1
    return pl.DataFrame({"cell": [context.partition_key] * rows, "value": [material["n"][0]] * rows})


one_row = suite_check(
    outcomes,
    "one_row",
    "One row per cell.",
    TOY.partitions,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="cell")],
    "SELECT cell, count(*) AS rows FROM toystudy.outcomes WHERE cycle = $cycle GROUP BY ALL HAVING rows > 1",
)


@TOY.finding(deps=["outcomes"])
def total(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    TOY.require_cells(lake.open(), [one_row])
    return lake.open().read("toystudy", "outcomes").select(pl.col("value").sum())


@pytest.fixture
def run(project):
    spoil.clear()
    defs = define([], [BuiltStudy(TOY, [material, outcomes, total], [one_row])])
    return lambda job, cell=None: defs.resolve_job_def(job).execute_in_process(
        instance=project.instance, partition_key=cell, raise_on_error=False
    )


def failure(result: dg.ExecuteInProcessResult) -> str:
    return next(
        event for event in result.all_events if event.is_step_failure
    ).step_failure_data.user_failure_data.description


def test_cells_are_run_in_any_order_and_found_over_once_all_are_there(project, run):
    assert run("toystudy_setup").success
    for cell in ("right-0", "left-0"):
        assert run("toystudy_study", cell).success
    assert (
        "1 of 3 cells have not passed their checks; first left-1: toystudy/outcomes:one_row (not run)"
        in failure(run("toystudy_findings"))
    )
    assert run("toystudy_study", "left-1").success
    assert run("toystudy_findings").success
    assert project.lake.cycles("toystudy", "outcomes") == ["left-0", "left-1", "right-0"]
    assert project.lake.read("toystudy", "total")["value"].to_list() == [9]


def test_a_cell_that_failed_its_check_stops_the_findings_until_it_is_mended(project, run):
    assert run("toystudy_setup").success
    spoil.append("left-1")
    assert [run("toystudy_study", cell).success for cell in TOY.cells] == [True, False, True]
    assert "first left-1: toystudy/outcomes:one_row (failed)" in failure(run("toystudy_findings"))
    spoil.clear()
    assert run("toystudy_study", "left-1").success
    assert run("toystudy_findings").success


def test_a_study_has_three_jobs_one_pool_and_nothing_that_starts_by_itself(run, project):
    defs = define([], [BuiltStudy(TOY, [material, outcomes, total], [one_row])])
    repository = defs.get_repository_def()
    assert {"toystudy_setup", "toystudy_study", "toystudy_findings"} <= set(repository.job_names)
    assert list(repository.schedule_defs) == []
    assert {sensor.name for sensor in repository.sensor_defs} == {
        "alerts",
        "cycles",
        "dead_runs",
        "rules_watch",
    }
    assert {asset.op.pool for asset in (material, outcomes, total, one_row)} == {"study_toystudy"}
    graph = defs.resolve_asset_graph()
    groups = {key.path[1]: graph.get(key).group_name for key in graph.get_all_asset_keys()}
    assert groups == {"material": "toystudy_setup", "outcomes": "toystudy", "total": "toystudy_findings"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"alone.py": ""}, "the assets of the line 'alone' are a single module"),
        ({"alone/__init__.py": "lines = []"}, "of the line 'alone' says of no line what it is"),
    ],
)
def test_a_package_that_can_be_no_line_says_what_it_lacks(tmp_path, monkeypatch, files, said):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "alone", raising=False)
    monkeypatch.setattr("pipelines.lines.lines", lambda: {"alone": LineSpec("alone", "alone")})
    with pytest.raises(InputError, match=said):
        built_lines()
