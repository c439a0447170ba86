"""What Dagster loads: specs of a line frozen as text, jobs without seeds, schedules and sensors stopped,
deployments that Dagster accepts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.instance.config import dagster_instance_config

from assets.line import Line, register_keys
from assets.rules import rules_asset
from evolake.errors import InputError
from pipelines.cycles import cycles_sensor, forget
from pipelines.freshness import policy_of
from pipelines.home import TEMPLATE, ensure_home
from pipelines.outcome import explain
from pipelines.policy import define
from pipelines.rules_watch import rules_watch
from resources.lake import LakeResource

ROOT = Path(__file__).resolve().parents[3]


def graph(project, name: str) -> dict[str, tuple]:
    assets = project.defs.resolve_asset_graph()
    return {
        key.to_user_string(): (
            assets.get(key).group_name,
            assets.get(key).partitions_def.name if assets.get(key).partitions_def else None,
            assets.get(key).is_external,
            sorted(parent.to_user_string() for parent in assets.get(key).parent_keys),
        )
        for key in assets.get_all_asset_keys()
        if key.path[0] == name
    }


def test_a_line_has_its_cycle_in_one_group_and_its_seeds_in_another(project):
    assert graph(project, "gated") == {
        "gated/seeds": ("gated_seeds", None, False, []),
        "gated/incoming": ("gated", "gated_cycle", True, []),
        "gated/candidates": ("gated", "gated_cycle", False, ["gated/incoming"]),
        "gated/survivors": ("gated", "gated_cycle", False, ["gated/candidates"]),
        "gated/story": ("gated", "gated_cycle", True, ["gated/survivors"]),
    }


def test_every_executable_asset_and_check_of_a_line_waits_in_its_pool(project):
    pools = {asset.op.pool for asset in (*project.lines["gated"].assets, *project.lines["gated"].checks)}
    assert pools == {"evolution_gated"}


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


def test_a_line_that_is_named_works_nightly_from_the_start_and_its_cycles_assets_show_a_missed_night(
    project, monkeypatch
):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_LINES", "left, right")
    defs = define([project.lines[name] for name in ("gated", "left", "right")])
    schedules = {item.name: item.default_status.value for item in defs.get_repository_def().schedule_defs}
    assert schedules == {
        "gated_nightly": "STOPPED",
        "left_nightly": "RUNNING",
        "right_nightly": "RUNNING",
        "lake_nightly": "STOPPED",
    }
    fresh = {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs() if spec.freshness_policy}
    assert fresh == {f"{line}/{asset}" for line in ("left", "right") for asset in ("candidates", "survivors")}


@pytest.mark.parametrize(("cron", "hours"), [("0 2 * * *", 36), ("0 2 * * 1-5", 108), ("*/30 * * * *", 0.75)])
def test_an_asset_is_late_after_one_and_a_half_of_the_widest_gap_between_nights(cron, hours):
    assert policy_of(cron).fail_window.to_timedelta() == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("name", "value"), [("EVOLAKE_NIGHTLY_LINES", "gatd"), ("EVOLAKE_NIGHTLY_CRON", "at two")]
)
def test_a_night_of_no_line_or_at_no_time_is_refused_by_name(project, name, value, monkeypatch):
    monkeypatch.setenv("EVOLAKE_NIGHTLY_LINES", "gated")
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        define([project.lines["gated"]])


def test_the_real_definitions_can_be_loaded_by_dagster():
    from pipelines.definitions import defs

    dg.Definitions.validate_loadable(defs)


def keys_of(project, line: str) -> list[str]:
    return sorted(project.instance.get_dynamic_partitions(f"{line}_cycle"))


def test_register_cycles_adds_what_is_missing_to_the_line_that_is_named(project):
    register_keys(project.instance, "left", ["0002"])
    job, config = project.defs.resolve_job_def("register_cycles"), {"how_many": 3, "line": "left"}
    assert job.execute_in_process(
        instance=project.instance, run_config={"ops": {"add_cycle_keys": {"config": config}}}
    ).success
    assert (keys_of(project, "left"), keys_of(project, "right")) == (["0001", "0002", "0003"], [])


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


def test_rules_of_an_empty_folder_are_an_error(project, tmp_path):
    rules = rules_asset(Line("toy", "A toy.", rules=tmp_path))
    job = dg.Definitions(
        assets=[rules], jobs=[dg.define_asset_job("look", dg.AssetSelection.all(include_sources=True))]
    ).resolve_job_def("look")
    with pytest.raises(InputError, match="no rules for the line"):
        job.execute_in_process(instance=project.instance)


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


def test_a_home_is_made_once_and_then_left_alone(tmp_path):
    home = ensure_home(tmp_path / "deep" / "home")
    assert (home / "dagster.yaml").read_text() == TEMPLATE.read_text()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    assert (ensure_home(home) / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"
    assert [path.name for path in home.iterdir()] == ["dagster.yaml"]
