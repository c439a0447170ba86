"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from shared_folder import SHARED

from evolake.scratch import Scratch

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")

ROOT = Path(__file__).parents[1]
ALONE = ("tests/integration/jail/", "tests/integration/prompts/test_policy_bundled.py")
"""Attacks that look at the whole machine, and what needs much of its memory: no other test may run beside them."""
LONGEST = (
    "tests/e2e/test_cycles_under_daemon.py", "tests/e2e/test_lines_by_the_bundled_model.py", "tests/e2e/test_solvers_by_a_model.py",
    "tests/e2e/test_prompts_line.py",
    "tests/e2e/test_solvers_line.py", "tests/e2e/test_designs_line.py", "tests/e2e/test_families_line.py", "tests/e2e/test_repair_backfill.py",
    "tests/e2e/test_repair_study.py", "tests/integration/solvers/test_seeds.py", "tests/integration/solvers/test_mutants.py",
    "tests/e2e/", "tests/integration/solvers/test_edits_patches.py", "tests/integration/",
)
"""Files, and folders after them, in the order in which they start: no worker is left alone with a long file at the end. The patches come long
after the seeds, which leave their objects behind."""
SLOW = (
    "tests/integration/compute/",
    "tests/integration/designs_engine/", "tests/integration/designs_evolution/", "tests/integration/designs_line/", "tests/integration/families/",
    "tests/integration/agents/test_misbehaving_endpoints.py", "tests/integration/agents/test_model_backend.py",
    "tests/integration/agents/test_sessions.py", "tests/integration/lake/test_cookbook.py", "tests/integration/lake/test_crashes.py",
    "tests/integration/lake/test_full_disk.py", "tests/integration/lake/test_lake_verify.py", "tests/integration/lake/test_sql_command.py",
    "tests/integration/objectives/", "tests/integration/programs/",
    "tests/integration/prompts/", "tests/integration/repair/",
    "tests/integration/report/", "tests/integration/solvers/", "tests/integration/test_examples.py", "tests/integration/utility/",
    "tests/unit/architecture/test_adding_things.py", "tests/unit/architecture/test_bad_input.py", "tests/unit/contracts/test_contract_pages.py",
    "tests/unit/families/test_labels_of_worlds.py", "tests/unit/plots/test_solvers_figures.py",
    "tests/unit/designs_engine/test_designs_engines.py", "tests/unit/designs_engine/test_designs_operators.py",
    "tests/unit/designs_engine/test_designs_semantics.py",
    "tests/unit/designs_engine/test_designs_isolated.py", "tests/unit/objectives/test_ranks_and_kendall.py", "tests/unit/plots/test_plots.py",
    "tests/unit/prompts/test_policy_dtype.py", "tests/unit/prompts/test_policy_state.py", "tests/unit/prompts/test_policy_update.py",
    "tests/unit/prompts/test_vllm_server.py",
    "tests/unit/solvers/suites/", "tests/unit/solvers/test_benchmark.py", "tests/unit/solvers/test_build.py",
    "tests/unit/solvers/test_object_store.py", "tests/unit/solvers/test_objectives_evolving.py",
    "tests/unit/spine/test_cycle_chain.py", "tests/unit/spine/test_evolve_command.py", "tests/unit/spine/test_gates_in_dagster.py",
    "tests/unit/spine/test_growing.py", "tests/unit/spine/test_immigrants.py", "tests/unit/utility/test_findings.py",
)
"""Files and folders of tests that judge in jails, train, draw, compile, start a process for each test, or wait for one."""
MARKED = {"e2e": "tests/e2e/", "attack": "tests/attacks/", "serial": ALONE, "slow": SLOW}
"""Mark -> where every test has it."""
settings.register_profile(
    "evolake", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=os.environ.get("CI") == "true",
)
"""In CI the same examples each time, as in Hypothesis' own profile for it: what random examples find is found, and mended, where people work."""
settings.load_profile("evolake")
PROGRAMS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"), "c++": ("g++", "clang++"), "cc": ("gcc", "cc", "clang"),
    "cmake": ("cmake",), "tex": ("pdflatex", "tectonic"),
}


def pytest_configure(config: pytest.Config) -> None:
    """The process that starts the workers makes the folder that they share, and removes it at its end."""
    if SHARED not in os.environ:
        folder = Scratch("tests", ignore_cleanup_errors=True)
        os.environ[SHARED] = folder.name

        def remove() -> None:
            del os.environ[SHARED]
            folder.cleanup()

        config.add_cleanup(remove)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is looked for while what stays to the end is made, nor in it afterwards: a fourth of the time that collecting tests takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which the marks that were asked for select no test are not imported, in every worker, to find that out."""
    path = collection_path.relative_to(ROOT).as_posix() if collection_path.is_relative_to(ROOT) else ""
    if not (path.startswith("tests/") and path.endswith(".py")):
        return None
    asked = config.option.markexpr
    left_out = any(f"not {mark}" in asked and path.startswith(places) for mark, places in MARKED.items())
    return True if left_out or (asked.startswith("serial") and not path.startswith(ALONE)) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as `serial` what `make test` runs alone and as `slow` what `make test-fast` leaves out; lets long files start first."""
    begins = {}
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        begins[item] = next((place for place, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))
        if path.startswith(ALONE):
            item.add_marker(pytest.mark.serial)
        if path.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=begins.__getitem__)


@pytest.fixture(autouse=True)
def environment_comes_back() -> Iterator[None]:
    """Variables that a command sets for its own process are gone after the test that called it in this one."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() | before.keys():
        if name == "PYTEST_CURRENT_TEST" or os.environ.get(name) == before.get(name):
            continue
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]


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
