"""Settings come from the environment, then the profile, then defaults; what cannot be used is named."""

from __future__ import annotations

import pytest

from evolake import settings
from evolake.errors import InputError


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    import os

    for name in [name for name in os.environ if name.startswith("EVOLAKE_")]:
        monkeypatch.delenv(name)


def test_shipped_profiles_load():
    assert settings.profile_names() == ["cluster", "demo", "laptop"]
    assert [settings.load(name).designs.batch for name in settings.profile_names()] == [100, 24, 50]


def test_cluster_is_the_paper_schedule():
    designs = settings.load("cluster").designs
    assert [(level.max_n, level.max_steps, level.wall_s) for level in (designs.low, designs.medium, designs.high)] == [
        (640, 10_000, 60), (1280, 100_000, 300), (2560, 1_000_000, 1800),
    ]  # fmt: skip


def test_the_environment_wins_over_the_profile(monkeypatch):
    monkeypatch.setenv("EVOLAKE_DESIGNS__BATCH", "7")
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    loaded = settings.load()
    assert (loaded.profile, loaded.designs.batch, loaded.designs.designs_per_cycle) == ("demo", 7, 6)


def test_an_unknown_profile_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match="one of cluster, demo, laptop"):
        settings.load("huge")


def test_a_value_that_does_not_fit_names_its_variable(monkeypatch):
    monkeypatch.setenv("EVOLAKE_DESIGNS__BATCH", "0")
    with pytest.raises(InputError, match="EVOLAKE_DESIGNS__BATCH"):
        settings.load("demo")
