"""Fixtures that every test may use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")

ALONE = ("tests/integration/jail/",)
"""Attacks that look at the whole machine: no other test may run beside them."""
settings.register_profile("evolake", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evolake")
PROGRAMS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "c++": ("g++", "clang++"), "cc": ("gcc", "cc", "clang")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as `serial` what `make test` runs alone."""
    root = Path(__file__).parents[1]
    for item in items:
        if item.path.relative_to(root).as_posix().startswith(ALONE):
            item.add_marker(pytest.mark.serial)


@pytest.fixture(scope="session")
def requires() -> Callable[[str], str]:
    """`requires("chromium")` gives the program's path. Absent, the test is skipped by name; under EVOLAKE_REQUIRE_ALL=1 it fails."""

    def find(name: str) -> str:
        for program in PROGRAMS[name]:
            if path := shutil.which(program):
                return path
        message = f"{name} is not installed; `evolake doctor` names the line that installs it"
        if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)

    return find
