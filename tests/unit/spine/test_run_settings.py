"""What a run is given in the Launchpad or by a schedule holds for that run, is recorded, and is refused in a
sentence where it cannot be used."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import dagster as dg
import pytest
import yaml
from dagster._core.snap.config_types import build_config_schema_snapshot
from dagster._core.snap.snap_to_yaml import default_values_yaml_from_type_snap

from assets.line import register_keys
from evolake import settings
from pipelines.outcome import explain
from pipelines.schedules import nightly
from resources.lake import LakeResource
from resources.run_settings import KEY, RunSettings, run_config, values


def run(project, cycle: str, **given: object) -> dg.ExecuteInProcessResult:
    register_keys(project.instance, "left", [cycle])
    return project.defs.resolve_job_def("left_cycle").execute_in_process(
        instance=project.instance,
        partition_key=cycle,
        raise_on_error=False,
        run_config={"resources": {KEY: {"config": given}}},
    )


def opened(project, cycle: str) -> dict[str, object]:
    return project.lake.read("left", "opened", cycle).drop("cycle", "incoming_version").to_dicts()[0]


def test_the_launchpad_shows_every_setting_with_the_value_that_it_has_without_one(project):
    for job in ("left_cycle", "left_seeds"):
        defined = project.defs.resolve_job_def(job)
        snapshot = build_config_schema_snapshot(defined)
        root = snapshot.get_config_snap(defined.run_config_schema.run_config_schema_type.key)
        shown = yaml.safe_load(default_values_yaml_from_type_snap(snapshot, root))["resources"][KEY]["config"]
        now = values(settings.load())
        assert shown == {name: value for name, value in now.items() if name != "budget"}, (
            "nulls are not shown"
        )
        assert set(now) == {"profile", "backend", "models", "budget", "workers", "seed"}
        dg.validate_run_config(defined, run_config())


def test_what_a_run_is_given_holds_for_it_alone_and_is_recorded_as_tags_and_in_the_lake(project, monkeypatch):
    monkeypatch.setenv("EVOLAKE_MODELS__DEFAULT", "other")
    monkeypatch.setenv("EVOLAKE_BUDGET__USD_PER_RUN", "2")
    seen, before = [], dict(os.environ)
    monkeypatch.setattr(LakeResource, "hold", lambda lake, line, run_id: seen.append(lake.settings()))
    assert project.seed("left").success
    given = {"backend": "model", "models": {"default": "m"}, "budget": {"tokens_per_run": 7}}
    result = run(project, "0001", **given, profile="demo", workers=1, seed=5)
    assert result.success
    now = seen[-1]
    assert (now.backend, now.models, now.profile, now.workers, now.seed) == (
        "model",
        {"default": "m"},
        "demo",
        1,
        5,
    )
    assert (now.budget.tokens_per_run, now.budget.usd_per_run) == (7, 2)
    assert opened(project, "0001") == {
        "profile": "demo",
        "backend": "model",
        "models": '{"default": "m"}',
        "root_seed": 5,
    }
    stored = project.instance.get_run_by_id(result.run_id)
    tags = {name: stored.tags[f"evolake/{name}"] for name in RunSettings.model_fields}
    assert json.loads(tags.pop("budget"))["tokens_per_run"] == 7
    assert tags == {
        "profile": "demo",
        "backend": "model",
        "models": '{"default": "m"}',
        "workers": "1",
        "seed": "5",
    }
    assert dict(os.environ) == before
    plain = run(project, "0002")
    assert plain.success and opened(project, "0002")["backend"] == "operators"
    assert project.instance.get_run_by_id(plain.run_id).tags["evolake/seed"] == "0"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"workers": 0}, "setting 'workers' cannot be used, wanted: Input should be greater than 0"),
        ({"seed": -1}, "setting 'seed' cannot be used, wanted: Input should be greater than or equal to 0"),
        ({"profile": "huge"}, "no profile named 'huge', wanted: one of cluster, demo, gpu, laptop"),
        ({"budget": {"usd_per_run": -1}}, "setting 'budget.usd_per_run' cannot be used"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_in_a_sentence_before_all_else(project, given, sentence):
    assert project.seed("left").success
    before = dict(os.environ)
    result = run(project, "0001", **given)
    assert not result.success and dict(os.environ) == before
    assert project.lake.record("left", "opened", "0001") is None
    reason = explain(result)[1]
    assert f"the run configuration cannot be used: {sentence}" in reason
    assert "correct it in resources: settings: config" in reason


def test_what_is_of_the_wrong_kind_is_refused_by_the_launchpad(project):
    for given in ({"backend": "modle"}, {"workers": "two"}, {"models": ["m"]}, {"sede": 1}):
        with pytest.raises(dg.DagsterInvalidConfigError):
            run(project, "0001", **given)


def test_a_night_has_its_settings_in_its_run_configuration(durable_project, monkeypatch):
    assert durable_project.seed("left").success
    monkeypatch.setenv("EVOLAKE_SEED", "3")
    schedule = nightly(durable_project.line("left"))
    with dg.build_schedule_context(
        instance=durable_project.instance,
        scheduled_execution_time=datetime(2026, 1, 5, 2, tzinfo=UTC),
        resources={"lake": LakeResource()},
        repository_def=durable_project.defs.get_repository_def(),
    ) as context:
        [request] = schedule.evaluate_tick(context).run_requests or []
    assert request.run_config == run_config()
    assert request.run_config["resources"][KEY]["config"]["seed"] == 3
