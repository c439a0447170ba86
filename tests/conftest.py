"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import durations
import pytest
from hypothesis import HealthCheck, settings
from shared_folder import SHARED, shared_folder

from evolake.scratch import Scratch

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")

ROOT = Path(__file__).parents[1]
ALONE = ("tests/integration/jail/",)
"""Attacks that look at the whole machine: no other test may run beside them."""
SHORT = (
    "tests/integration/jail/test_jail_conformance.py",
    "tests/integration/solvers/test_edits_patches.py",
    "tests/e2e/test_one_solvers_cycle.py",
)
"""What `make test` runs however long it takes: the sandbox, and one real cycle of what differs most."""
PARTLY_LONG = ("tests/integration/solvers/test_mutants.py",)
"""Files that mark some of their own tests as `long`: `make test` runs the others."""
LONG_ALWAYS = ("tests/unit/docs/test_site.py",)
"""What needs more installed than `make test` installs."""
LONG_FROM_S = 6.0
"""Files that were measured to take longer are marked `long`: `make test` leaves them to `make test-rest`."""
DURATIONS = durations.read()
UNTIL = float(os.environ.get("EVOLAKE_TESTS_UNTIL", "inf"))
"""The time, in seconds since the epoch, after which no further file marked `long` is started."""
LEFT_OUT = "left-out"
"""The folder, in the one that the workers share, of the names of files that were not started."""
SLOW = (
    "tests/integration/compute/",
    "tests/integration/designs_engine/",
    "tests/integration/designs_evolution/",
    "tests/integration/designs_line/",
    "tests/integration/families/",
    "tests/integration/agents/test_misbehaving_endpoints.py",
    "tests/integration/agents/test_model_backend.py",
    "tests/integration/agents/test_sessions.py",
    "tests/integration/lake/test_cookbook.py",
    "tests/integration/lake/test_crashes.py",
    "tests/integration/lake/test_full_disk.py",
    "tests/integration/lake/test_lake_verify.py",
    "tests/integration/lake/test_sql_command.py",
    "tests/integration/objectives/",
    "tests/integration/programs/",
    "tests/integration/prompts/",
    "tests/integration/repair/",
    "tests/integration/report/",
    "tests/integration/solvers/",
    "tests/integration/test_examples.py",
    "tests/integration/utility/",
    "tests/unit/architecture/test_adding_things.py",
    "tests/unit/architecture/test_bad_input.py",
    "tests/unit/contracts/test_contract_pages.py",
    "tests/unit/families/test_labels_of_worlds.py",
    "tests/unit/plots/test_solvers_figures.py",
    "tests/unit/designs_engine/test_designs_engines.py",
    "tests/unit/designs_engine/test_designs_operators.py",
    "tests/unit/designs_engine/test_designs_semantics.py",
    "tests/unit/designs_engine/test_designs_isolated.py",
    "tests/unit/objectives/test_ranks_and_kendall.py",
    "tests/unit/plots/test_plots.py",
    "tests/unit/prompts/test_policy_dtype.py",
    "tests/unit/prompts/test_policy_state.py",
    "tests/unit/prompts/test_policy_update.py",
    "tests/unit/prompts/test_vllm_server.py",
    "tests/unit/solvers/suites/",
    "tests/unit/solvers/test_benchmark.py",
    "tests/unit/solvers/test_build.py",
    "tests/unit/solvers/test_objectives_evolving.py",
    "tests/unit/spine/test_cycle_chain.py",
    "tests/unit/spine/test_evolve_command.py",
    "tests/unit/spine/test_gates_in_dagster.py",
    "tests/unit/spine/test_growing.py",
    "tests/unit/spine/test_admitted_seeds.py",
    "tests/unit/utility/test_findings.py",
)
"""Files and folders of tests that judge in jails, train, draw, compile, start a process for each test, or
wait for one."""


def is_long(path: str) -> bool:
    """Return whether `make test` leaves the file (relative to the repository) to `make test-rest`."""
    if path.startswith(LONG_ALWAYS):
        return True
    if path in SHORT or path in PARTLY_LONG:
        return False
    return max(DURATIONS.get(path, (0.0, 0.0))) > LONG_FROM_S


MARKED = {"e2e": "tests/e2e/", "attack": "tests/attacks/", "serial": ALONE, "slow": SLOW}
"""Mark -> where every test has it."""
settings.register_profile(
    "evolake",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
"""In CI the same examples each time, as in Hypothesis' own profile for it: what random examples find is
found, and mended, where people work."""
settings.load_profile("evolake")
BEGUN = pytest.StashKey[set[Path]]()
PROGRAMS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "c++": ("g++", "clang++"),
    "cc": ("gcc", "cc", "clang"),
    "cmake": ("cmake",),
    "tex": ("pdflatex", "tectonic"),
    "node": ("node",),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make durations`."""
    parser.addoption(
        "--write-durations",
        action="store_true",
        help="write how long each file took into tests/durations.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that the workers share, in the process that starts them, and remove it at its end."""
    # A background job of a shell without job control ignores Ctrl-C, and so would every process that tests
    # send it to.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.option.write_durations:
        config.pluginmanager.register(durations.Recorder(), "durations-recorder")
    if SHARED not in os.environ:
        folder = Scratch("tests", ignore_cleanup_errors=True)
        os.environ[SHARED] = folder.name

        def remove() -> None:
            del os.environ[SHARED]
            folder.cleanup()

        config.add_cleanup(remove)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is looked for while what stays to the end is made, nor in it afterwards: a fourth of the
    time that collecting tests takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which the wanted marks select no test: every worker would import them only to
    find that out."""
    path = collection_path.relative_to(ROOT).as_posix() if collection_path.is_relative_to(ROOT) else ""
    if not (path.startswith("tests/") and path.endswith(".py")):
        return None
    wanted = config.option.markexpr
    left_out = any(f"not {mark}" in wanted and path.startswith(places) for mark, places in MARKED.items())
    if "not long" in wanted:
        left_out |= is_long(path)
    elif "long" in wanted and Path(path).name.startswith("test_"):
        left_out |= not (is_long(path) or path.startswith(PARTLY_LONG))
    return True if left_out or (wanted.startswith("serial") and not path.startswith(ALONE)) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `serial`, `slow` and `long` by their file, and let the files that take longest start
    first."""
    weights = {}
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        weights[item] = -DURATIONS.get(path, (0.0, 0.0))[0]
        if path.startswith(ALONE):
            item.add_marker(pytest.mark.serial)
        if path.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if is_long(path):
            item.add_marker(pytest.mark.long)
    items.sort(key=weights.__getitem__)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Do not start a file marked `long` after the time that EVOLAKE_TESTS_UNTIL names. Files that were begun
    are finished."""
    begun = item.config.stash.setdefault(BEGUN, set())
    if item.path in begun or time.time() < UNTIL or item.get_closest_marker("long") is None:
        begun.add(item.path)
        return None
    names = shared_folder() / LEFT_OUT
    names.mkdir(exist_ok=True)
    path = item.path.relative_to(ROOT).as_posix()
    (names / path.replace("/", "-")).write_text(path)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the files that were not started because the time was used up."""
    names = sorted(file.read_text() for file in (shared_folder() / LEFT_OUT).glob("*"))
    if names:
        terminalreporter.section("not started: the time for long tests is used up")
        for name in names:
            terminalreporter.write_line(name)


@pytest.fixture(autouse=True)
def environment_comes_back() -> Iterator[None]:
    """Variables that a command sets for its own process are gone after the test that called it in this
    one."""
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
    """`requires("chromium")` gives the program's path. Absent, the test is skipped by name; under
    EVOLAKE_REQUIRE_ALL=1 it fails."""

    def find(name: str) -> str:
        for program in PROGRAMS[name]:
            if path := shutil.which(program):
                return path
        message = f"{name} is not installed; `evolake doctor` names the line that installs it"
        if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)

    return find
