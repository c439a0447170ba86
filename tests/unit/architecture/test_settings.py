"""Settings come from the environment, then the profile, then defaults; what cannot be used is named."""

import pickle
import re
from operator import attrgetter
from pathlib import Path

import pytest
from pydantic import BaseModel

from evolake import settings
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.lake import Lake

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    import os

    for name in [name for name in os.environ if name.startswith("EVOLAKE_")]:
        monkeypatch.delenv(name)


def test_shipped_profiles_load():
    assert settings.profile_names() == ["cluster", "demo", "gpu", "laptop"]
    assert [settings.load(name).of(DesignsSettings).batch for name in settings.profile_names()] == [
        100,
        24,
        100,
        50,
    ]


def test_cluster_is_the_paper_schedule():
    designs = settings.load("cluster").of(DesignsSettings)
    assert [(level.max_n, level.max_steps, level.core_s) for level in (designs.low, designs.medium, designs.high)] == [  # noqa: E501
        (640, 10_000, 60), (1280, 100_000, 300), (2560, 1_000_000, 1800),
    ]  # fmt: skip


def test_the_environment_wins_over_the_profile(monkeypatch):
    monkeypatch.setenv("EVOLAKE_DESIGNS__BATCH", "7")
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    loaded = settings.load()
    assert (
        loaded.profile,
        loaded.of(DesignsSettings).batch,
        loaded.of(DesignsSettings).designs_per_cycle,
    ) == ("demo", 7, 3)


def test_a_lake_goes_on_with_the_profile_it_was_sealed_under_unless_another_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    assert settings.load().profile == "laptop"
    Lake(tmp_path).note_profile("demo")
    assert (settings.load().profile, settings.load().of(DesignsSettings).batch) == ("demo", 24)
    monkeypatch.setenv("EVOLAKE_PROFILE", "cluster")
    assert (settings.load().profile, settings.load("laptop").profile) == ("cluster", "laptop")


def test_an_unknown_profile_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match="one of cluster, demo, gpu, laptop"):
        settings.load("huge")


def test_a_value_that_does_not_fit_names_its_variable(monkeypatch):
    monkeypatch.setenv("EVOLAKE_DESIGNS__BATCH", "0")
    with pytest.raises(InputError, match="EVOLAKE_DESIGNS__BATCH"):
        settings.load("demo")


def test_settings_go_to_another_process_with_every_section():
    loaded = settings.load("demo")
    assert pickle.loads(pickle.dumps(loaded)) == loaded
    assert type(pickle.loads(pickle.dumps(loaded))) is settings.settings_type()


def test_the_demo_runs_programs_on_an_example_that_the_repository_ships():
    recipe = (ROOT / "Makefile").read_text()
    [named] = re.findall(r"EVOLAKE_PROGRAMS__PROJECTS:-([^}]+)\}", recipe)
    assert (ROOT / named / "evaluator.py").is_file()
    assert recipe.index("$(BIN)/evolake status --gains") > recipe.index(
        "$(BIN)/evolake report --out demo/report.html"
    )


def test_every_setting_is_one_that_somebody_sets():
    """A profile sets it, or the documentation or a test names it; what nobody sets is a constant."""
    names: dict[str, bool] = {}
    profiles = [settings.load(name) for name in settings.profile_names()]

    def walk(kind: type[BaseModel], before: str) -> None:
        for name, field in kind.model_fields.items():
            path = f"{before}{name}"
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                walk(field.annotation, f"{path}.")
            else:
                default = field.get_default(call_default_factory=True)
                names[path] = any(attrgetter(path)(loaded) != default for loaded in profiles)

    walk(settings.settings_type(), "")
    texts = [
        path.read_text()
        for folder, ending in (("docs", "*.md"), ("tests", "*.py"))
        for path in (ROOT / folder).rglob(ending)
    ]
    words = set(re.findall(r"\w+", "\n".join(texts)))
    unset = [
        path
        for path, by_profile in names.items()
        if not by_profile and {path.split(".")[-1], variable_of(path)}.isdisjoint(words)
    ]
    assert len(names) > 200 and unset == []


def variable_of(path: str) -> str:
    return "EVOLAKE_" + path.upper().replace(".", "__")
