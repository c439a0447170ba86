"""The utility study's cells as partitions: the record, one cell with its checks, and no findings before the
others are there."""

from __future__ import annotations

import dagster as dg
from utility_lake import SETTINGS, families_lake

from pipelines.lines import built_studies
from pipelines.policy import define


def test_a_cell_runs_with_its_checks_is_kept_and_findings_wait_for_the_others(project, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    families_lake(project.lake.root)
    defs = define([], [study for study in built_studies() if study.study.name == "utility"])

    def run(job: str, key: str | None = None) -> dg.ExecuteInProcessResult:
        return defs.resolve_job_def(job).execute_in_process(
            instance=project.instance, partition_key=key, raise_on_error=False
        )

    assert run("utility_setup").success
    assert run("utility_study", "evolved-0").success
    assert project.lake.read("utility", "steps", "evolved-0")["step"].to_list() == [1, 2, 3]
    again = run("utility_study", "evolved-0")
    assert [
        materialization.metadata["kept"].value
        for materialization in again.asset_materializations_for_node("utility__replies")
    ] == [True]
    failed = next(event for event in run("utility_findings").all_events if event.is_step_failure)
    assert "cells have not passed their checks" in failed.step_failure_data.user_failure_data.description
