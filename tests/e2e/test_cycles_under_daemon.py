"""The feedback edge under a real daemon and webserver: order, refusal, healing, two lines, nightly, and a
worker that is killed."""

import itertools
import os
import re
import signal
from collections.abc import Iterator

import pytest
from toy_location.site import Site, running_site

from assets.cycle import cycle_key

pytestmark = pytest.mark.e2e
SIX = [cycle_key(number) for number in range(1, 7)]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site"), EVOLAKE_NIGHTLY_CRON="* * * * *") as site:
        assert site.evolve("all", 0, "--at-once", "1")["verdict"] == "sealed"
        assert site.evolve("failing,changed", 6)["verdict"] == "sealed"
        site.start()
        site.start_schedule("nightly_nightly")
        yield site


def one_after_the_other(runs: list) -> bool:
    return all(first.ended <= second.started for first, second in itertools.pairwise(runs))


def test_register_cycles_makes_a_range_that_can_be_picked(site):
    assert (
        site.launch_job("register_cycles", {"ops": {"add_cycle_keys": {"config": {"how_many": 9}}}}).status
        == "SUCCESS"
    )
    keys = site.ask(
        """{ assetNodeOrError(assetKey: {path: ["ordered", "survivors"]}) { ... on AssetNode { partitionKeys } } }"""  # noqa: E501
    )
    assert sorted(keys["assetNodeOrError"]["partitionKeys"]) == [cycle_key(number) for number in range(1, 10)]


def test_a_shuffled_backfill_runs_in_order_one_run_a_cycle_each_on_the_survivors_before(site):
    runs = site.finished(site.backfill("ordered", ["0004", "0001", "0006", "0003", "0002", "0005"]))
    assert [(run.cycle, run.status) for run in runs] == [(cycle, "SUCCESS") for cycle in SIX]
    assert one_after_the_other(sorted(runs, key=lambda run: run.started))
    assert sorted(SIX, key=lambda cycle: next(run.started for run in runs if run.cycle == cycle)) == SIX
    assert site.members("ordered", "0007") == ["seed>0001>0002>0003>0004>0005>0006"]
    for cycle in SIX:
        seal, after = (site.lake.seals.read("ordered", key) for key in (cycle, cycle_key(int(cycle) + 1)))
        assert seal.tables == {"incoming_members": site.content("ordered", "incoming_members", cycle)}
        assert after.built_on == seal.version
    assert {
        site.stale("ordered", asset, cycle) for asset in ("candidates", "survivors") for cycle in SIX
    } == {"FRESH"}


def test_a_failure_in_cycle_3_stops_4_to_6_at_once_and_the_group_from_3_on_heals_it(site):
    before = [site.content("failing", "incoming_members", cycle_key(number)) for number in range(1, 8)]
    heal = site.plant("fail-failing-0003")
    runs = site.finished(site.backfill("failing", SIX))
    assert [(run.cycle, run.status) for run in runs] == [
        (cycle, "SUCCESS" if cycle < "0003" else "FAILURE") for cycle in SIX
    ]
    failed = runs[2]
    assert "planted failure in cycle 0003" in site.failure(failed.run_id)
    for run in runs[3:]:
        assert (
            f"cycle {run.cycle} cannot start: the population that enters cycle 0004 is reopened: the run "
            f"of cycle 0003 failed or did not finish (run {failed.run_id}). Materialize the whole group "
            "'failing' from cycle 0003 on, in one new backfill"
        ) in site.failure(run.run_id)
        assert not [event for event in site.logs(run.run_id) if event["__typename"] == "MaterializationEvent"]
    heal()
    healed = site.finished(site.backfill("failing", SIX[2:]))
    assert [(run.cycle, run.status) for run in healed] == [(cycle, "SUCCESS") for cycle in SIX[2:]]
    assert [
        site.content("failing", "incoming_members", cycle_key(number)) for number in range(1, 8)
    ] == before
    assert {site.stale("failing", "survivors", cycle) for cycle in SIX} == {"FRESH"}


def test_equal_content_breaks_nothing_and_changed_content_stops_a_later_cycle(site):
    for cycle in ("0002", "0006"):
        assert [run.status for run in site.finished(site.backfill("changed", [cycle]))] == ["SUCCESS"]
    site.plant("salt-changed-0002", "!")
    assert [run.status for run in site.finished(site.backfill("changed", ["0002"]))] == ["SUCCESS"]
    assert [site.stale("changed", "candidates", cycle) for cycle in ("0002", "0003", "0004")] == [
        "FRESH",
        "STALE",
        "FRESH",
    ]
    [refused] = site.finished(site.backfill("changed", ["0006"]))
    assert refused.status == "FAILURE"
    assert (
        "cycle 0006 cannot start: the population that enters cycle 0004 is built on an older population: "
        "cycle 0003 has to run again." in site.failure(refused.run_id)
    )


def test_two_lines_run_side_by_side_each_in_order(site):
    """Both lines hang in their first cycle until both are there, so that side by side is seen and not guessed
    from clocks."""
    go = {line: site.plant(f"hang-{line}-0001") for line in ("left", "right")}
    backfills = {line: site.backfill(line, SIX[:2]) for line in go}

    def both_at_work() -> bool:
        return all(
            [run.status for run in site.runs({"key": "dagster/backfill", "value": item})][:1] == ["STARTED"]
            for item in backfills.values()
        )

    site.wait("both lines to be at work", both_at_work, 240)
    for release in go.values():
        release()
    for line, backfill in backfills.items():
        runs = site.finished(backfill)
        assert [(run.cycle, run.status) for run in runs] == [("0001", "SUCCESS"), ("0002", "SUCCESS")]
        assert one_after_the_other(runs)
        assert site.members(line, "0003") == ["seed>0001>0002"]


def test_a_killed_worker_leaves_a_cycle_that_runs_again(site):
    release = site.plant("hang-killed-0001")
    backfill = site.backfill("killed", ["0001"])

    def worker() -> int | None:
        runs = site.runs({"key": "dagster/backfill", "value": backfill})
        events = site.logs(runs[0].run_id) if runs else []
        at_work = [
            event
            for event in events
            if event["__typename"] == "ExecutionStepStartEvent" and event["stepKey"] == "killed__survivors"
        ]
        pids = [
            re.search(r"in process \(pid: (\d+)\)", event["message"])
            for event in events
            if event["message"].startswith("Executing steps")
        ]
        return int(pids[0].group(1)) if at_work and pids and pids[0] else None

    pid = site.wait("the run to be in the middle of its cycle", worker, 240)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    [killed] = site.finished(backfill)
    assert killed.status == "FAILURE"
    release()
    assert site.lake.seals.read("killed", "0002") is None
    [again] = site.finished(site.backfill("killed", ["0001"]))
    assert again.status == "SUCCESS"
    assert site.members("killed", "0002") == ["seed>0001"]


def test_a_second_run_of_a_running_cycle_that_bypasses_the_queue_is_refused(site):
    release = site.plant("hang-left-0003")
    backfill = site.backfill("left", ["0003"])
    site.wait(
        "the first run to hold the line", lambda: (site.lake.root / "locks" / "left.holder").exists(), 240
    )
    second = site.evolve("left", 1)
    [run] = site.runs({"key": "dagster/backfill", "value": backfill})
    assert second["verdict"] == "failed"
    assert "line left is busy" in second["reason"] and run.run_id in second["reason"]
    release()
    assert [run.status for run in site.finished(backfill)] == ["SUCCESS"]
    assert site.members("left", "0004") == ["seed>0001>0002>0003"]


def test_nightly_adds_exactly_one_cycle_a_tick(site):
    """Here night falls every minute; the schedule has been on since the site came up."""

    def ended() -> list[dict] | None:
        ticks = [tick for tick in site.ticks("nightly_nightly") if tick["runIds"]]
        runs = site.runs({"key": "evolake/started_by", "value": "nightly"})
        return (
            ticks
            if ticks and len(runs) == len(ticks) and all(run.status == "SUCCESS" for run in runs)
            else None
        )

    ticks = site.wait("a night and its run", ended, 100)
    assert ticks is not None
    assert {len(tick["runIds"]) for tick in ticks} == {1}
    cycles = [run.cycle for run in site.runs({"key": "evolake/started_by", "value": "nightly"})]
    assert cycles == [cycle_key(number) for number in range(1, len(ticks) + 1)]
    assert site.lake.seals.cycles("nightly") == [cycle_key(number) for number in range(1, len(ticks) + 2)]
