"""The feedback edge in process: contents chain, broken links stop what stands on them, equal content breaks
nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from assets.cycle import RESEAL_TAG

ROOT = Path(__file__).resolve().parents[3]


def failure_text(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            return data.user_failure_data.description if data.user_failure_data else str(data.error)
    raise AssertionError("no step failed")


def events_of(project, name: str, cycle: str) -> list[tuple[str, str]]:
    """(event type, data version) of incoming[cycle], in the order of the event log."""
    key = project.line(name).key("incoming")
    filter_ = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[cycle])
    result = [
        *project.instance.fetch_materializations(filter_, limit=100).records,
        *project.instance.fetch_observations(filter_, limit=100).records,
    ]
    tags = [(record.storage_id, record.event_log_entry.dagster_event) for record in result]
    return [
        (
            event.event_type_value,
            (
                event.step_materialization_data.materialization
                if event.is_step_materialization
                else event.asset_observation_data.asset_observation
            ).tags["dagster/data_version"],
        )
        for _, event in sorted(tags, key=lambda pair: pair[0])
    ]


def test_each_cycle_starts_from_what_survived_the_one_before(project):
    project.grow("ordered", 3)
    assert project.members("ordered", "0004") == ["seed>0001>0002>0003"]
    seals = [project.lake.seals.read("ordered", f"{number:04d}") for number in range(1, 5)]
    assert [seal.built_on for seal in seals] == [None, *(seal.version for seal in seals[:-1])]
    assert project.lake.seals.broken_link("ordered", "0004") is None
    assert project.instance.get_dynamic_partitions("ordered_cycle") == ["0001", "0002", "0003", "0004"]


def test_the_seeds_give_the_line_its_pool_of_one_before_anything_can_queue_for_it(durable_project):
    assert durable_project.seed("ordered").success
    assert [
        (pool.name, pool.limit) for pool in durable_project.instance.event_log_storage.get_pool_limits()
    ] == [("evolution_ordered", 1)]


def test_a_pool_that_somebody_changed_is_left_as_it_is(durable_project):
    durable_project.instance.event_log_storage.set_concurrency_slots("evolution_ordered", 2)
    durable_project.grow("ordered", 1)
    assert [
        (pool.name, pool.limit) for pool in durable_project.instance.event_log_storage.get_pool_limits()
    ] == [("evolution_ordered", 2)]


def test_a_seal_is_mirrored_as_an_observation_and_then_a_materialization(project):
    project.grow("ordered", 1)
    version = project.lake.seals.read("ordered", "0002").version
    assert events_of(project, "ordered", "0002") == [
        ("ASSET_OBSERVATION", version),
        ("ASSET_MATERIALIZATION", version),
    ]


def test_a_cycle_needs_the_seeds(project):
    assert failure_text(project.cycle("ordered", "0001")) == (
        "cycle 0001 cannot start: the population that enters cycle 0001 is missing. Materialize the group "
        "'ordered_seeds' first."
    )


def test_a_cycle_that_nobody_sealed_cannot_start(project):
    project.grow("ordered", 1)
    text = failure_text(project.cycle("ordered", "0004"))
    assert text.startswith(
        "cycle 0004 cannot start: the population that enters cycle 0003 is missing: cycle 0002 has not run."
    )
    assert "Materialize the whole group 'ordered' from cycle 0002 on, in one new backfill" in text
    assert '"re-execute from failure"' in text


def test_changed_seeds_stop_the_cycles_that_stand_on_them(project):
    project.grow("ordered", 2)
    project.plant("salt-ordered-0000", "!")
    assert not project.seed("ordered").success
    assert project.cycle("ordered", "0002").success
    assert project.seed("ordered", **{RESEAL_TAG: "ordered"}).success
    assert (
        "the population that enters cycle 0002 is built on an older population: cycle 0001 has to run again"
        in failure_text(project.cycle("ordered", "0002"))
    )


def test_a_closing_asset_alone_cannot_pass_old_work_off_as_new(project):
    project.grow("ordered", 2)
    project.plant("salt-ordered-0001", "!")
    assert project.cycle("ordered", "0001").success
    sealed = project.lake.seals.read("ordered", "0003")
    text = failure_text(project.cycle("ordered", "0002", only=["survivors"]))
    assert text.startswith(
        "cycle 0002 cannot be sealed: its work is based on another population than the one that enters it "
        "now."
    )
    assert project.lake.seals.read("ordered", "0003") == sealed


def test_a_line_whose_first_asset_opens_no_cycle_is_named(project):
    project.grow("ordered", 1)
    project.plant("unopened-ordered-0002", "")
    assert failure_text(project.cycle("ordered", "0002")) == (
        "cycle 0002 cannot be sealed: no asset of the cycle has opened it. The line's first asset has to "
        "call `open_cycle`"
    )
    assert project.lake.seals.read("ordered", "0003") is None


def test_a_cycle_without_survivors_hands_on_the_previous_population_with_a_warning(project):
    project.grow("ordered", 1)
    project.plant("none-ordered-0002")
    result = project.cycle("ordered", "0002")
    assert result.success
    assert project.members("ordered", "0003") == project.members("ordered", "0002") == ["seed>0001"]
    assert (
        project.lake.seals.read("ordered", "0003").version
        == project.lake.seals.read("ordered", "0002").version
    )
    metadata = result.asset_materializations_for_node("ordered__survivors")[-1].metadata
    assert (
        metadata["warning"].value == "WARN: no survivor; the previous population enters the next cycle again"
    )
    assert project.cycle("ordered", "0003").success


def test_a_population_that_is_not_what_was_sealed_is_refused(project):
    project.grow("ordered", 1)
    project.lake.publish(
        "ordered", "incoming_members", pl.DataFrame({"member": ["forged"]}), cycle="0002", run_id="forger"
    )
    text = failure_text(project.cycle("ordered", "0002"))
    assert re.match(
        r"cycle 0002 cannot start: the population that enters cycle 0002 is not what was sealed \(table "
        r"incoming_members",
        text,
    )
    assert "from cycle 0001 on" in text


def test_a_second_run_of_a_running_cycle_is_told_who_is_at_work_and_changes_nothing(project):
    project.grow("ordered", 2)
    seals = [project.lake.seals.read("ordered", cycle) for cycle in ("0001", "0002", "0003")]
    script = (
        "import sys; from pathlib import Path; from evolake.lake import Lake\n"
        f"with Lake(Path({str(project.lake.root)!r})).line_lock('ordered', run_id='the-first-run'):\n    "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as other:
        assert other.stdout.readline() == "held\n"
        text = failure_text(project.cycle("ordered", "0002"))
        other.stdin.close()
    assert text.startswith("cycle 0002 of line 'ordered' cannot start: line ordered is busy")
    assert "the-first-run" in text and text.endswith("Nothing was changed.")
    assert [project.lake.seals.read("ordered", cycle) for cycle in ("0001", "0002", "0003")] == seals
    assert project.cycle("ordered", "0002").success


@pytest.mark.parametrize("alone", [["candidates"], ["survivors"]])
def test_writing_an_asset_alone_needs_the_line_too(project, alone):
    project.grow("ordered", 1)
    with project.lake.line_lock("ordered", run_id="another"):
        assert "is busy" in failure_text(project.cycle("ordered", "0001", only=alone))


def test_a_failed_cycle_stops_those_that_stand_on_it_though_they_had_run_before(project):
    project.grow("ordered", 4)
    before = project.members("ordered", "0005")
    heal = project.plant("fail-ordered-0002")
    failed = project.cycle("ordered", "0002")
    assert not failed.success
    for later in ("0003", "0004"):
        assert failure_text(project.cycle("ordered", later)).startswith(
            f"cycle {later} cannot start: the population that enters cycle 0003 is reopened: the run of "
            f"cycle 0002 failed or did not finish (run {failed.run_id}). Materialize the whole group "
            "'ordered' from cycle 0002 on"
        )
    heal()
    for again in ("0002", "0003", "0004"):
        assert project.cycle("ordered", again).success
    assert project.members("ordered", "0005") == before


def test_a_rerun_that_ends_in_the_same_content_breaks_nothing(project):
    project.grow("ordered", 3)
    assert project.cycle("ordered", "0001").success
    assert project.cycle("ordered", "0003").success


def test_changed_content_stops_later_cycles_until_they_run_again(project):
    project.grow("ordered", 4)
    project.plant("salt-ordered-0002", "!")
    assert project.cycle("ordered", "0002").success
    assert failure_text(project.cycle("ordered", "0004")).startswith(
        "cycle 0004 cannot start: the population that enters cycle 0004 is built on an older population: "
        "cycle 0003 has to run again."
    )
    assert project.cycle("ordered", "0003").success
    assert project.cycle("ordered", "0004").success
    assert project.members("ordered", "0005") == ["seed>0001>0002!>0003>0004"]
