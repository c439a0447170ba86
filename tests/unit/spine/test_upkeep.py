"""The nightly look at the lake: green where all is as it was written, red with what, where and how to mend it
where something is not."""

from __future__ import annotations

import dagster as dg
import polars as pl
import pytest

from evolake.lake import Lake
from pipelines.evolve import entry
from pipelines.upkeep import lake_nightly, verify_lake
from resources.lake import LakeResource


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    lake.publish("designs", "candidates", pl.DataFrame({"design": ["a"]}), cycle="0001", run_id="run")
    return lake


def look(lake: Lake) -> dg.ExecuteInProcessResult:
    return verify_lake.execute_in_process(
        resources={"lake": LakeResource(root=str(lake.root))}, raise_on_error=False
    )


def test_a_whole_lake_is_green_and_a_damaged_one_red_with_what_mends_it(lake):
    assert look(lake).success
    (lake.root / "tables/designs/candidates/_manifest.jsonl").unlink()
    result = look(lake)
    assert not result.success
    [failure] = [
        event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure
    ]
    assert (
        failure.description
        == "the manifest of designs/candidates has lost a part; run: evolake lake verify --repair"
    )
    assert failure.metadata["count"].value == 1


def test_the_schedule_is_stopped_until_somebody_starts_it():
    assert (lake_nightly.default_status, lake_nightly.job_name) == (
        dg.DefaultScheduleStatus.STOPPED,
        "verify_lake",
    )


def test_a_run_says_first_that_the_lake_is_damaged(lake, tmp_path, monkeypatch, capfd):
    (tmp_path / "plants").mkdir()
    for name, value in (("DAGSTER_HOME", "home"), ("EVOLAKE_LAKE", "lake"), ("EVOLAKE_TOY_PLANTS", "plants")):
        monkeypatch.setenv(name, str(tmp_path / value))
    (lake.root / "tables/designs/candidates/_manifest.jsonl").unlink()
    assert entry(["--definitions", "toy_location.definitions", "--lines", "left", "--cycles", "0"]) == 0
    text = (
        "the lake is not as it was written: the manifest of designs/candidates has lost a part; run: "
        "evolake lake verify --repair"
    )
    assert capfd.readouterr().out.splitlines()[1] == text  # after the profile and the lake
