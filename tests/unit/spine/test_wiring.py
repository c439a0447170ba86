"""What Dagster loads: specs of a line frozen as text, jobs without seeds, schedules and sensors stopped,
deployments that Dagster accepts."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.instance.config import dagster_instance_config
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

from assets.line import Line, register_keys
from assets.rules import rules_asset
from assets.study import Study
from evolake.errors import InputError
from pipelines.cycles import cycles_sensor, forget
from pipelines.home import TEMPLATE, ensure_home
from pipelines.nights import CHECK, judge, nights, widest_gap
from pipelines.outcome import explain
from pipelines.policy import define
from pipelines.schedules import nightly
from pipelines.sensors import rules_watch
from resources.dagster_internals import cron_string_iterator
from resources.lake import LakeResource

ROOT = Path(__file__).resolve().parents[3]


def test_a_cycle_job_is_one_cycle_with_its_checks_and_never_the_seeds(project):
    layer = project.defs.resolve_job_def("gated_cycle").asset_layer
    assert {key.to_user_string() for key in layer.selected_asset_keys} == {
        "gated/candidates",
        "gated/survivors",
    }
    assert {key.name for key in layer.asset_graph.asset_check_keys} == {"members_are_unique"}


def test_schedules_and_sensors_are_listed_and_stopped_but_for_those_that_start_no_run(project):
    repository = project.defs.get_repository_def()
    schedules = {item.name: item.default_status for item in repository.schedule_defs}
    sensors = {item.name: item.default_status for item in repository.sensor_defs}
    assert schedules["gated_nightly"] == dg.DefaultScheduleStatus.STOPPED
    assert sensors["gated_continuous"] == dg.DefaultSensorStatus.STOPPED
    assert {sensors.pop(name) for name in ("cycles", "dead_runs", "rules_watch")} == {
        dg.DefaultSensorStatus.RUNNING
    }
    assert set(schedules.values()) == {dg.DefaultScheduleStatus.STOPPED} and set(sensors.values()) == {
        dg.DefaultSensorStatus.STOPPED
    }
    assert sensors.pop("alerts") == dg.DefaultSensorStatus.STOPPED
    assert len(sensors) == len(project.lines), "no default automation sensor beside ours"


def test_a_line_that_is_named_works_nightly_from_the_start_and_has_the_check_of_nights(project, monkeypatch):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_LINES", "left, right")
    defs = define([project.lines[name] for name in ("gated", "left", "right")])
    schedules = {item.name: item.default_status.value for item in defs.get_repository_def().schedule_defs}
    assert schedules == {
        "gated_nightly": "STOPPED",
        "left_nightly": "RUNNING",
        "right_nightly": "RUNNING",
        "lake_nightly": "STOPPED",
    }
    checks = {key.to_user_string() for key in defs.resolve_asset_graph().asset_check_keys}
    assert {key for key in checks if CHECK in key} == {f"{line}/story:{CHECK}" for line in ("left", "right")}
    steps = [node.name for node in defs.resolve_job_def("left_cycle").nodes]
    assert len(steps) == 2 and not any(CHECK in name for name in steps), "a cycle does not run it"


@pytest.mark.parametrize(("cron", "hours"), [("0 2 * * *", 24), ("0 2 * * 1-5", 72), ("*/30 * * * *", 0.5)])
def test_nights_are_as_far_apart_as_the_widest_gap_of_the_schedule(cron, hours):
    assert widest_gap(cron) == timedelta(hours=hours)


def test_a_repair_is_no_new_cycle_and_hides_no_night_that_did_not_run(project):
    line, lake = project.line("left"), project.lake
    assert judge(lake, line, datetime.now(UTC)) is None
    project.grow("left", 2)
    now = datetime.now(UTC)

    def late(after_h: float) -> tuple[bool, str]:
        result = judge(lake, line, now + timedelta(hours=after_h))
        return not result.passed, result.metadata["sealed_first"].value

    known = judge(lake, line, now).metadata["sealed_first"].value
    assert [late(hours) for hours in (35, 37)] == [(False, known), (True, known)]
    project.plant("salt-left-0001", "!")
    for cycle in ("0001", "0002"):
        assert project.cycle("left", cycle).success
    assert late(37) == (True, known), "both cycles were made again, with another content"
    assert project.cycle("left", "0003").success
    again = late(35)
    assert not again[0] and again[1] > known


def test_the_sensor_of_nights_reports_what_changed(project, monkeypatch):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_CRON", "0 2 * * *")
    line, key = project.line("left"), dg.AssetCheckKey(project.line("left").story.key, CHECK)
    sensor, cursor, said = nights([line, project.line("right")]), None, []
    project.grow("left", 1)
    for hours in (0, 1, 37, 38):
        at = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr("pipelines.nights.datetime", SimpleNamespace(now=lambda _, at=at: at))
        resources = {"lake": LakeResource()}
        with dg.build_sensor_context(project.instance, cursor=cursor, resources=resources) as context:
            said.append(sensor(context).skip_message)
            cursor = context.cursor
    assert said == ["every night ran"] * 2 + ["no new cycle of left"] * 2
    records = project.instance.event_log_storage.get_asset_check_execution_history(key, limit=9)
    assert [record.status.value for record in records] == ["FAILED", "SUCCEEDED"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EVOLAKE_NIGHTLY_LINES", "gatd"),
        ("EVOLAKE_NIGHTLY_CRON", "at two"),
        ("EVOLAKE_NIGHTLY_TIMEZONE", "Mars/Olympus"),
        ("EVOLAKE_NIGHTLY_TIMEZONE", "../UTC"),
    ],
)
def test_a_night_of_no_line_or_at_no_time_is_refused_by_name(project, name, value, monkeypatch):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_LINES", "gated")
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        define([project.lines["gated"]])


def test_nights_have_a_time_zone(project, monkeypatch):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_TIMEZONE", "Europe/Vienna")
    schedule = nightly(project.line("left"))
    assert schedule.execution_timezone == "Europe/Vienna"
    before_summer_time = datetime(2026, 3, 28, tzinfo=UTC).timestamp()
    ticks = cron_string_iterator(before_summer_time, schedule.cron_schedule, schedule.execution_timezone)
    assert [next(ticks).astimezone(UTC).hour for _ in range(3)] == [1, 1, 0]


def keys_of(project, line: str) -> list[str]:
    return sorted(project.instance.get_dynamic_partitions(f"{line}_cycle"))


def test_each_line_has_its_own_cycles_from_the_lake_and_loses_keys_that_cannot_be_one(project):
    project.grow("left", 2)
    project.instance.delete_dynamic_partition("left_cycle", "0001")  # a home that was lost in part
    register_keys(project.instance, "right", ["cycle 1", "12", "0000", "0007"])
    lines = [project.line("left"), project.line("right")]
    with dg.build_sensor_context(instance=project.instance, resources={"lake": LakeResource()}) as context:
        told = cycles_sensor(lines)(context)
    assert (keys_of(project, "left"), keys_of(project, "right")) == (
        ["0001", "0002", "0003"],
        ["0001", "0007"],
    )
    assert "left: registered 0001" in told.skip_message and "'12'" in told.skip_message


def test_pools_have_one_slot_before_a_first_run_can_wait_for_it(durable_project):
    """Dagster applies no default limit in the pass in which it meets a pool: a first backfill would start
    all its cycles at the same time."""
    project, storage = durable_project, durable_project.instance.event_log_storage
    register_keys(project.instance, "right", ["0001", "0002"])
    assert [(pool.name, pool.limit) for pool in storage.get_pool_limits()] == [("evolution_right", 1)]
    storage.set_concurrency_slots("evolution_right", 2)  # by hand: stays
    lines, studies = [project.line("left"), project.line("right")], [Study("survey", "", cells=("x",))]
    with dg.build_sensor_context(instance=project.instance, resources={"lake": LakeResource()}) as context:
        cycles_sensor(lines, studies)(context)
    limits = {pool.name: pool.limit for pool in storage.get_pool_limits()}
    assert limits == {"evolution_left": 1, "evolution_right": 2, "study_survey": 1}


def test_a_cycle_that_has_not_run_is_forgotten_and_one_of_the_lake_is_not(project):
    project.grow("left", 1)
    lines = [project.line("left"), project.line("right")]
    assert not project.cycle("left", "0100").success
    assert not project.cycle("left", "abc").success
    for key in ("0100", "abc"):
        assert forget(project.instance, project.lake, lines, key) == ["left"]
    assert keys_of(project, "left") == ["0001", "0002"]
    for key in ("0001", "0002", "0100"):
        with pytest.raises(InputError):
            forget(project.instance, project.lake, lines, key)
    assert keys_of(project, "left") == ["0001", "0002"]


def test_a_key_that_is_no_cycle_says_how_it_is_taken_out(project):
    project.grow("left", 1)
    for key, words in (("abc", "'abc' is no cycle of line 'left'"), ("0100", "If 0100 was mistyped")):
        failed = project.cycle("left", key)
        reason = explain(failed)[1]
        assert words in reason and f"evolake cycles forget {key} --line left" in reason


def test_the_first_cycle_makes_its_seeds_in_a_run_of_their_own(durable_project, monkeypatch):
    project = durable_project
    register_keys(project.instance, "left", ["0001"])
    monkeypatch.setenv("DAGSTER_HOME", project.instance.root_directory)
    job = ReconstructableRepository.for_module("toy_location.definitions", "defs").get_reconstructable_job(
        "left_cycle"
    )  # as a code server does
    with dg.execute_job(job, instance=project.instance, tags={"dagster/partition": "0001"}) as done:
        assert done.success
    assert project.members("left", "0002") == ["seed>0001"]
    runs = project.instance.get_runs()
    assert sorted((run.job_name, run.status.value) for run in runs) == [
        ("left_cycle", "SUCCESS"),
        ("left_seeds", "SUCCESS"),
    ]


def test_a_line_that_lacks_something_is_one_failed_run_of_a_backfill(durable_project, monkeypatch):
    project = durable_project
    (project.plants / "idle-left-0000").write_text("there is no project")
    monkeypatch.setenv("DAGSTER_HOME", project.instance.root_directory)
    register_keys(project.instance, "left", ["0001", "0002"])
    job = ReconstructableRepository.for_module("toy_location.definitions", "defs").get_reconstructable_job(
        "left_cycle"
    )
    for backfill in ("whole", "another"):
        tags = {"dagster/partition": "0002", "dagster/backfill": backfill}
        project.instance.create_run_for_job(
            project.defs.resolve_job_def("left_cycle"),
            status=dg.DagsterRunStatus.QUEUED,
            tags=tags,
            remote_job_origin=RemoteRepositoryOrigin(
                RegisteredCodeLocationOrigin("toys"), "__repository__"
            ).get_job_origin("left_cycle"),
        )
    tags = {"dagster/partition": "0001", "dagster/backfill": "whole"}
    with dg.execute_job(job, instance=project.instance, tags=tags) as done:
        [said] = [event.step_failure_data.error.message for event in done.all_events if event.is_step_failure]
    assert "cannot begin: there is no project" in said
    assert sorted(
        (run.tags["dagster/backfill"], run.tags["dagster/partition"], run.status.value)
        for run in project.instance.get_runs()
    ) == [("another", "0002", "QUEUED"), ("whole", "0001", "FAILURE"), ("whole", "0002", "CANCELED")]


RULE = "---\nid: one\nversion: {version}\nkind: static\ngate: form\ncheck: toy.form\n---\nWhy.\n"


def test_rules_are_observed_with_the_hash_of_what_they_mean_and_no_data_version(project, tmp_path):
    """A data version would make stale each asset with an edge from the rules, whichever rule was edited."""
    rules = rules_asset(Line("toy", "A toy.", rules=tmp_path / "rules"))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "one.md").write_text(RULE.format(version=1))
    job = dg.Definitions(
        assets=[rules], jobs=[dg.define_asset_job("look", dg.AssetSelection.all(include_sources=True))]
    ).resolve_job_def("look")

    def version() -> str:
        result = job.execute_in_process(instance=project.instance)
        [event] = [event for event in result.all_events if event.event_type_value == "ASSET_OBSERVATION"]
        seen = event.asset_observation_data.asset_observation
        assert "dagster/data_version" not in seen.tags
        return str(seen.metadata["rules_hash"].value)

    first = version()
    assert version() == first
    (tmp_path / "rules" / "one.md").write_text(RULE.format(version=2))
    assert version() != first


def test_the_sensor_notes_rules_once_and_tells_when_the_loaded_definitions_are_older(project, tmp_path):
    line = Line("watched", "A toy.", rules=tmp_path)
    rule = tmp_path / "one.md"
    rule.write_text(RULE.format(version=1))
    sensor, cursor = rules_watch([line]), None
    told = []
    for version in (1, 1, 2, 2):
        rule.write_text(RULE.format(version=version))
        context = dg.build_sensor_context(instance=project.instance, cursor=cursor)
        result = sensor(context)
        cursor = context.cursor
        count = len(project.instance.fetch_observations(line.key("rules"), limit=10).records)
        told.append((count, "Reload definitions" in result.skip_message))
    assert told == [(1, False), (1, False), (2, True), (2, True)]


@pytest.mark.parametrize("deployment", ["sqlite", "postgres"])
def test_dagster_accepts_the_deployments(deployment, monkeypatch):
    for name in ("HOST", "PORT", "USER", "PASSWORD", "DATABASE"):
        monkeypatch.setenv(f"EVOLAKE_PG_{name}", "1")
    config, _ = dagster_instance_config(str(ROOT / "deploy" / deployment))
    assert config["concurrency"] == {
        "pools": {"granularity": "run", "default_limit": 1},
        "runs": {"max_concurrent_runs": 4},
    }
    assert (config["code_servers"]["local_startup_timeout"], config["code_servers"]["reload_timeout"]) == (
        300,
        300,
    )
    assert (config["telemetry"], config["nux"], config["run_retries"]["enabled"]) == (
        {"enabled": False},
        {"enabled": False},
        False,
    )


def test_every_executable_asset_and_check_of_a_line_waits_in_its_pool(project):
    pools = {asset.op.pool for asset in (*project.lines["gated"].assets, *project.lines["gated"].checks)}
    assert pools == {"evolution_gated"}


def test_the_real_definitions_can_be_loaded_by_dagster():
    from pipelines.definitions import defs

    dg.Definitions.validate_loadable(defs)


def test_register_cycles_adds_what_is_missing_to_the_line_that_is_named(project):
    register_keys(project.instance, "left", ["0002"])
    job, config = project.defs.resolve_job_def("register_cycles"), {"how_many": 3, "line": "left"}
    assert job.execute_in_process(
        instance=project.instance, run_config={"ops": {"add_cycle_keys": {"config": config}}}
    ).success
    assert (keys_of(project, "left"), keys_of(project, "right")) == (["0001", "0002", "0003"], [])


def test_rules_of_an_empty_folder_are_an_error(project, tmp_path):
    rules = rules_asset(Line("toy", "A toy.", rules=tmp_path))
    job = dg.Definitions(
        assets=[rules], jobs=[dg.define_asset_job("look", dg.AssetSelection.all(include_sources=True))]
    ).resolve_job_def("look")
    with pytest.raises(InputError, match="no rules for the line"):
        job.execute_in_process(instance=project.instance)


def test_a_home_is_made_once_and_then_left_alone(tmp_path):
    home = ensure_home(tmp_path / "deep" / "home")
    assert (home / "dagster.yaml").read_text() == TEMPLATE.read_text()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    assert (ensure_home(home) / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"
    assert [path.name for path in home.iterdir()] == ["dagster.yaml"]


@pytest.mark.parametrize("first", ["duckdb, pipelines.definitions", "pipelines.definitions, duckdb"])
def test_a_process_that_loaded_the_definitions_ends_silently(first):
    code = f"import {first}\nduckdb.sql('SELECT 1').fetchall()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
