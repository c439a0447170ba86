"""Several lakes of one user: what Dagster keeps of one is never taken for another's."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from assets.line import IN_PROCESS_TAG
from evolake import project as places
from evolake.cli.doctor import _places
from evolake.lake import DERIVATIONS, Catalogue, Lake, side_table
from evolake.lake.homes import claim, home_of, owner
from evolake.settings import load
from pipelines.burial import bury_dead_runs
from pipelines.line_state import runs_at_work
from resources.lake import LAKE_TAG

ROOT = Path(__file__).parents[3]


@pytest.fixture
def other(project, tmp_path):
    """Another lake, of the same instance of Dagster. `at` says which one a run works on."""
    return replace(project, lake=Lake(tmp_path / "other"))


def at(place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(place.lake.root))
    return place


def without_checks(place, *assets: str) -> dg.ExecuteInProcessResult:
    job = place.defs.resolve_implicit_global_asset_job_def()
    keys = {place.line("gated").key(asset) for asset in assets}
    return job.get_subset(asset_selection=keys, asset_check_selection=set()).execute_in_process(
        instance=place.instance, partition_key="0001", raise_on_error=False
    )


def refusal(result: dg.ExecuteInProcessResult) -> str:
    [failed] = [event for event in result.all_events if event.is_step_failure]
    data = failed.step_failure_data.user_failure_data
    assert data is not None
    return str(data.description)


def test_checks_that_passed_in_another_lake_seal_nothing(project, other, monkeypatch):
    assert at(project, monkeypatch).seed("gated").success
    assert without_checks(project, "candidates").success
    at(other, monkeypatch).grow("gated", 1)
    assert other.lake.seals.read("gated", "0002") is not None
    closed = at(project, monkeypatch).cycle("gated", "0001", only=["survivors"])
    assert "gated/candidates:members_are_unique (not run)" in refusal(closed)
    assert project.lake.seals.read("gated", "0002") is None
    assert project.cycle("gated", "0001").success


def test_the_lake_alone_says_which_checks_passed(project):
    """A home that was lost changes nothing: the cycle is closed under an instance that knows no check."""
    assert project.seed("gated").success and project.cycle("gated", "0001", only=["candidates"]).success
    with dg.DagsterInstance.ephemeral() as empty:
        closed = replace(project, instance=empty).cycle("gated", "0001", only=["survivors"])
        assert closed.success
    with Catalogue(project.lake) as catalogue:
        [row] = catalogue.query("SELECT asset, check_name, passed, reason FROM checks").rows
    assert row == ("candidates", "members_are_unique", True, None)


def test_a_check_that_passed_on_what_the_lake_does_not_hold_does_not_count(project):
    project.grow("gated", 1)
    lake, key = project.lake, ("gated", "candidates")
    lake.publish(*key, lake.read(*key, "0001").head(0), cycle="0001", run_id="put back")
    closed = project.cycle("gated", "0001", only=["survivors"])
    assert "members_are_unique (passed on an older part)" in refusal(closed)


def test_a_check_judges_the_rows_of_shared_tables_too(project):
    project.grow("gated", 1)
    row = {"child_id": "a", "parent_id": "b", "operator": "copy", "weight": 1.0, "cycle": "0001"}
    table = side_table("candidates", DERIVATIONS)
    project.lake.publish(
        "gated", table, DERIVATIONS.frame([row]), cycle="0001", run_id="later", schema=DERIVATIONS
    )
    closed = project.cycle("gated", "0001", only=["survivors"])
    assert "members_are_unique (passed on an older part)" in refusal(closed)


def test_a_living_run_of_another_lake_is_left_alone_and_does_not_count_as_one_of_this_line(project, other):
    line = project.line("ordered")
    job = project.defs.resolve_job_def(line.job_name)
    tags = {IN_PROCESS_TAG: str(os.getpid()), LAKE_TAG: other.lake.id}
    run = project.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
    with other.lake.line_lock("ordered", run_id=run.run_id):
        assert bury_dead_runs(project.instance, project.lake, [line], others=True) == []
        assert runs_at_work(project.instance, project.lake, line) == []
        assert [item.run_id for item in runs_at_work(project.instance, other.lake, line)] == [run.run_id]
    assert bury_dead_runs(project.instance, other.lake, [line]) == [run.run_id]


def test_every_run_names_its_lake(project):
    project.grow("gated", 1)
    tags = [run.tags.get(LAKE_TAG) for run in project.instance.get_runs()]
    assert tags == [project.lake.id] * 2


def test_the_home_follows_the_lake_unless_it_is_set(tmp_path, monkeypatch):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert places.home(ROOT / "data_lake") == ROOT / ".dagster"
    assert places.home(tmp_path / "a") == tmp_path / "a" / "dagster_home"
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "set"))
    assert {places.home(ROOT / "data_lake"), places.home(tmp_path / "a")} == {tmp_path / "set"}


def test_a_home_is_that_of_the_lake_that_came_first(tmp_path, monkeypatch):
    first, second, home = Lake(tmp_path / "a"), Lake(tmp_path / "b"), tmp_path / "home"
    home.mkdir()
    assert [home_of(home, lake.id) for lake in (first, second)] == [home, home]
    assert [claim(home, lake.id) for lake in (first, second, first)] == [
        home,
        home / "lakes" / second.id,
        home,
    ]
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    for lake, own, ok in ((first, home, True), (second, home / "lakes" / second.id, False)):
        [seen] = [check for check in _places(load("demo", lake=lake.root)) if check.name == "DAGSTER_HOME"]
        assert seen.ok == ok and f"logs: {own / 'logs'}" in seen.detail and str(own) in seen.mend


def test_two_lakes_side_by_side_under_one_dagster_home(tmp_path):
    """Neither takes a run, a check or a story of the other for its own."""
    names = ["a", "b"]
    (tmp_path / "plants").mkdir()
    environment = os.environ | {
        "DAGSTER_HOME": str(tmp_path / "home"),
        "EVOLAKE_TOY_PLANTS": str(tmp_path / "plants"),
        "PYTHONPATH": str(ROOT / "tests"),
    }
    command = [sys.executable, "-m", "pipelines.evolve", "--definitions", "toy_location.definitions"]
    running = [
        subprocess.Popen(
            [*command, "--lines", "gated", "--cycles", "1"],
            env=environment | {"EVOLAKE_LAKE": str(tmp_path / name)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in names
    ]
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert not [text for text in said if "cut off" in text]
    lakes = [Lake(tmp_path / name) for name in names]
    assert [lake.seals.cycles("gated")[-1] for lake in lakes] == ["0002"] * 2
    homes = [home_of(tmp_path / "home", lake.id) for lake in lakes]
    assert len(set(homes)) == 2 and tmp_path / "home" in homes
    for lake, home in zip(lakes, homes, strict=True):
        with dg.DagsterInstance.from_config(str(home)) as instance:
            assert {run.tags[LAKE_TAG] for run in instance.get_runs()} == {lake.id}
            story = dg.AssetRecordsFilter(asset_key=dg.AssetKey(["gated", "story"]))
            pages = instance.fetch_materializations(story, limit=10).records
        assert [page.partition_key for page in pages] == ["0001"]


def test_a_home_that_is_no_folder_is_no_lake_s(tmp_path):
    (tmp_path / "file").touch()
    assert owner(tmp_path / "file") is None
