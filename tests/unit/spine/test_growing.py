"""Nightly and continuous: one more cycle a tick, and a cycle after every seal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, datetime

import dagster as dg
import pytest
from dagster._core.events import EngineEventData

from assets.line import IN_PROCESS_TAG
from pipelines import burial
from pipelines.burial import LAUNCHED_TAG, bury_dead_runs
from pipelines.line_state import next_cycle, runs_at_work
from pipelines.schedules import PARTITION_TAG, SCHEDULE_TAG, TICK_TAG


@pytest.fixture
def project(durable_project):
    return durable_project


NIGHT = datetime(2026, 11, 22, 2, tzinfo=UTC)


def tick(project, name: str) -> dg.RunRequest | str:
    schedule = project.defs.get_repository_def().get_schedule_def(f"{name}_nightly")
    resources = {"lake": project.defs.resources["lake"]}
    with dg.build_schedule_context(
        instance=project.instance,
        resources=resources,
        repository_def=project.defs.get_repository_def(),
        scheduled_execution_time=NIGHT,
    ) as context:
        execution = schedule.evaluate_tick(context)
    return execution.run_requests[0] if execution.run_requests else execution.skip_message


def unfinished_run(
    project, name: str, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED, **tags: str
) -> dg.DagsterRun:
    job = project.defs.resolve_job_def(project.line(name).job_name)
    return project.instance.create_run_for_job(job, tags={"evolake/line": name, **tags}, status=status)


def status_of(project, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    return project.instance.get_run_by_id(run.run_id).status


def die(project, run: dg.DagsterRun) -> None:
    """What a killed run leaves in the lake: the file of its lock."""
    with project.lake.run_locks.live(run.run_id):
        pass


def test_a_tick_adds_the_partition_where_it_is_missing(project):
    project.grow("nightly", 1)
    project.instance.delete_dynamic_partition("nightly_cycle", "0002")
    assert tick(project, "nightly").partition_key == "0002"
    assert sorted(project.instance.get_dynamic_partitions("nightly_cycle")) == ["0001", "0002"]


def test_keys_registered_in_advance_are_not_jumped_to(project):
    project.grow("nightly", 1)
    project.instance.add_dynamic_partitions("nightly_cycle", ["0007", "0008"])
    assert tick(project, "nightly").partition_key == "0002"


def test_the_night_after_a_failure_runs_the_failed_cycle_again(project):
    project.grow("nightly", 1)
    project.plant("fail-nightly-0002")
    assert not project.cycle("nightly", "0002").success
    assert tick(project, "nightly").partition_key == "0002"


def test_a_tick_is_skipped_while_a_run_of_the_line_is_at_work(project):
    project.grow("nightly", 1)
    run = unfinished_run(project, "nightly")
    assert re.fullmatch(
        rf"run {run.run_id} of line nightly is still running since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC; one "
        r"cycle at a time",
        tick(project, "nightly"),
    )
    assert tick(project, "left") == "line left has no seeds yet: materialize the group left_seeds once"


def test_a_run_that_was_killed_is_buried_and_the_night_goes_on(project):
    project.grow("nightly", 1)
    run = unfinished_run(project, "nightly", **{IN_PROCESS_TAG: "1"})
    assert tick(project, "nightly").partition_key == "0002"
    assert project.instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_a_living_run_is_not_buried(project):
    project.grow("nightly", 1)
    run = unfinished_run(project, "nightly", **{IN_PROCESS_TAG: "1"})
    with project.lake.line_lock("nightly", run_id=run.run_id):
        assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == []
    assert [
        item.run_id for item in runs_at_work(project.instance, project.lake, project.line("nightly"))
    ] == [run.run_id]


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING])
def test_a_run_with_a_process_of_its_own_is_buried_when_its_lock_is_free_and_not_before(project, status):
    run = unfinished_run(project, "nightly", status, **{LAUNCHED_TAG: "{}"})
    for lock, buried in ((project.lake.run_locks.live(run.run_id), []), (nullcontext(), [run.run_id])):
        with lock:
            assert bury_dead_runs(project.instance, project.lake, [project.line("left")]) == [], (
                "another line's"
            )
            assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == buried
    ended = {
        dg.DagsterRunStatus.STARTED: dg.DagsterRunStatus.FAILURE,
        dg.DagsterRunStatus.CANCELING: dg.DagsterRunStatus.CANCELED,
    }
    assert status_of(project, run) == ended[status]
    assert project.lake.run_locks.all_seen() == []


@pytest.mark.parametrize("here", [True, False])
def test_a_run_that_was_killed_while_it_started_is_buried_at_once_if_its_process_is_gone_from_this_host(
    project, tmp_path, here
):
    socket = tmp_path / "code-server"
    run = unfinished_run(
        project,
        "nightly",
        dg.DagsterRunStatus.STARTING,
        **{LAUNCHED_TAG: json.dumps({"host": "localhost", "socket": str(socket)})},
    )
    if here:
        socket.touch()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    project.instance.report_engine_event(
        f"Started process for run (pid: {process.pid}).", run, EngineEventData.in_process(process.pid)
    )
    assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == [], "it lives"
    process.kill()
    process.wait()
    assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == (
        [run.run_id] if here else []
    )
    if here:
        [end] = project.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
        assert f"(pid {process.pid}) ended while the run was starting" in end.dagster_event.message


@pytest.mark.parametrize(
    "status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
)
def test_a_run_that_never_took_a_lock_is_buried_when_it_has_stood_still_for_long(
    project, monkeypatch, status
):
    run = unfinished_run(project, "nightly", status)
    assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == []
    monkeypatch.setattr(burial, "PATIENCE_S", -1.0)
    with project.lake.line_lock("nightly", run_id=run.run_id):
        assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == [], (
            "a notebook may be at work on the line"
        )
    assert bury_dead_runs(project.instance, project.lake, [project.line("nightly")]) == [run.run_id]


def test_the_sensor_frees_what_dead_runs_of_every_kind_hold_and_sweeps_what_ended(project):
    upkeep = project.instance.create_run_for_job(
        project.defs.resolve_job_def("verify_lake"), status=dg.DagsterRunStatus.STARTED
    )
    cycle, in_process = (
        unfinished_run(project, "left"),
        unfinished_run(project, "right", **{IN_PROCESS_TAG: "1"}),
    )
    for run in (upkeep, cycle):
        die(project, run)
    ended = unfinished_run(project, "nightly", dg.DagsterRunStatus.SUCCESS)
    die(project, ended)
    sensor = project.defs.get_repository_def().get_sensor_def("dead_runs")

    def look() -> str | None:
        with dg.build_sensor_context(
            project.instance, resources={"lake": project.defs.resources["lake"]}
        ) as context:
            return sensor.evaluate_tick(context).skip_message

    summary = look() or ""
    assert {run.run_id for run in (upkeep, cycle, in_process)} == set(
        summary.removeprefix("buried: ").split(", ")
    )
    assert {status_of(project, run) for run in (upkeep, cycle, in_process)} == {dg.DagsterRunStatus.FAILURE}
    assert project.lake.run_locks.all_seen() == []
    assert look() == "every run that has not ended lives, or is just starting"


def test_a_tick_that_was_cut_off_asks_for_the_run_that_it_has_made(project):
    """Also where that run is through: the tick after it is the one that goes on to the next cycle."""
    project.grow("nightly", 1)
    tags = {SCHEDULE_TAG: "nightly_nightly", TICK_TAG: NIGHT.isoformat(), PARTITION_TAG: "0002"}
    unfinished_run(project, "nightly", dg.DagsterRunStatus.NOT_STARTED, **tags)
    assert tick(project, "nightly").partition_key == "0002"
    assert project.cycle("nightly", "0002").success
    assert tick(project, "nightly").partition_key == "0002"


@pytest.mark.parametrize(("cycles", "expected"), [(0, None), (1, "0002"), (3, "0004")])
def test_the_next_cycle_is_the_first_that_is_not_sealed(project, cycles, expected):
    if cycles:
        project.grow("nightly", cycles)
    assert next_cycle(project.lake, project.line("nightly")) == expected


def test_continuous_mode_starts_each_cycle_when_its_population_is_sealed(project):
    name = "nightly"
    line, asked = project.line(name), []
    defs = dg.Definitions(
        assets=[line.incoming, *project.lines[name].assets], resources=project.defs.resources
    )

    def look(cursor):
        return dg.evaluate_automation_conditions(
            defs, project.instance, dg.AssetSelection.groups(name), cursor=cursor
        )

    cursor = look(None).cursor
    assert project.seed(name).success
    for _ in range(4):
        result = look(cursor)
        cursor = result.cursor
        wanted = {
            key.path[-1]: sorted(result.get_requested_partitions(line.key(key.path[-1])))
            for key in (line.key("candidates"), line.key("survivors"))
            if result.get_num_requested(key)
        }
        if wanted:
            asked.append(wanted)
            assert project.cycle(name, wanted["candidates"][0]).success
    assert asked == [{"candidates": [key], "survivors": [key]} for key in ("0001", "0002", "0003", "0004")]


def test_a_tick_requests_the_next_cycle_and_its_run_adds_exactly_one(project):
    project.grow("nightly", 1)
    for expected, keys in (("0002", ["0001", "0002", "0003"]), ("0003", ["0001", "0002", "0003", "0004"])):
        request = tick(project, "nightly")
        assert request.partition_key == expected
        assert project.cycle("nightly", request.partition_key).success
        assert project.instance.get_dynamic_partitions("nightly_cycle") == keys
