"""Nightly and continuous: one more cycle a tick, and a cycle after every seal."""

from __future__ import annotations

import dagster as dg
import pytest

from pipelines.line_state import IN_PROCESS_TAG, bury_dead_runs, next_cycle, runs_at_work


@pytest.fixture
def house(durable_house):
    return durable_house


def tick(house, name: str) -> dg.RunRequest | str:
    schedule = house.defs.get_repository_def().get_schedule_def(f"{name}_nightly")
    resources = {"lake": house.defs.resources["lake"]}
    with dg.build_schedule_context(instance=house.instance, resources=resources, repository_def=house.defs.get_repository_def()) as context:
        execution = schedule.evaluate_tick(context)
    return execution.run_requests[0] if execution.run_requests else execution.skip_message


def unfinished_run(house, name: str, **tags: str) -> dg.DagsterRun:
    job = house.defs.resolve_job_def(house.line(name).job_name)
    return house.instance.create_run_for_job(job, tags={"evolake/line": name, **tags}, status=dg.DagsterRunStatus.STARTED)


def test_a_tick_requests_the_next_cycle_and_its_run_adds_exactly_one(house):
    house.grow("nightly", 1)
    for expected, keys in (("0002", ["0001", "0002", "0003"]), ("0003", ["0001", "0002", "0003", "0004"])):
        request = tick(house, "nightly")
        assert request.partition_key == expected
        assert house.cycle("nightly", request.partition_key).success
        assert house.instance.get_dynamic_partitions("cycle") == keys


def test_a_tick_adds_the_partition_where_it_is_missing(house):
    house.grow("nightly", 1)
    house.instance.delete_dynamic_partition("cycle", "0002")
    assert tick(house, "nightly").partition_key == "0002"
    assert sorted(house.instance.get_dynamic_partitions("cycle")) == ["0001", "0002"]


def test_keys_registered_in_advance_are_not_jumped_to(house):
    house.grow("nightly", 1)
    house.instance.add_dynamic_partitions("cycle", ["0007", "0008"])
    assert tick(house, "nightly").partition_key == "0002"


def test_the_night_after_a_failure_runs_the_failed_cycle_again(house):
    house.grow("nightly", 1)
    house.plant("fail-nightly-0002")
    assert not house.cycle("nightly", "0002").success
    assert tick(house, "nightly").partition_key == "0002"


def test_a_tick_is_skipped_while_a_run_of_the_line_is_at_work(house):
    house.grow("nightly", 1)
    run = unfinished_run(house, "nightly")
    assert tick(house, "nightly") == f"run {run.run_id} of line nightly is still at work; one cycle at a time"
    assert tick(house, "left") == "line left has no seeds yet: materialize the group left_seeds once"


def test_a_run_that_was_killed_is_buried_and_the_night_goes_on(house):
    house.grow("nightly", 1)
    run = unfinished_run(house, "nightly", **{IN_PROCESS_TAG: "1"})
    assert tick(house, "nightly").partition_key == "0002"
    assert house.instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_a_living_run_is_not_buried(house):
    house.grow("nightly", 1)
    run = unfinished_run(house, "nightly", **{IN_PROCESS_TAG: "1"})
    with house.lake.line_lock("nightly", run_id=run.run_id):
        assert bury_dead_runs(house.instance, house.lake, house.line("nightly")) == []
    assert [one.run_id for one in runs_at_work(house.instance, house.line("nightly"))] == [run.run_id]


@pytest.mark.parametrize(("cycles", "expected"), [(0, None), (1, "0002"), (3, "0004")])
def test_the_next_cycle_is_the_first_that_is_not_sealed(house, cycles, expected):
    if cycles:
        house.grow("nightly", cycles)
    assert next_cycle(house.lake, house.line("nightly")) == expected


def test_continuous_mode_starts_each_cycle_when_its_population_is_sealed(house):
    name = "nightly"
    line, asked = house.line(name), []
    defs = dg.Definitions(assets=[line.incoming, *house.lines[name].assets], resources=house.defs.resources)

    def look(cursor):
        return dg.evaluate_automation_conditions(defs, house.instance, dg.AssetSelection.groups(name), cursor=cursor)

    cursor = look(None).cursor
    assert house.seed(name).success
    for _ in range(4):
        result = look(cursor)
        cursor = result.cursor
        wanted = {
            key.path[-1]: sorted(result.get_requested_partitions(line.key(key.path[-1])))
            for key in (line.key("candidates"), line.key("survivors")) if result.get_num_requested(key)
        }
        if wanted:
            asked.append(wanted)
            assert house.cycle(name, wanted["candidates"][0]).success
    assert asked == [{"candidates": [key], "survivors": [key]} for key in ("0001", "0002", "0003", "0004")]
