"""Processes of lines are forked from one that has imported what they need, and behave as processes of their
own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import psutil
import pytest

from evolake.errors import MachineryError
from pipelines.fork_client import Forking
from pipelines.outcome import MACHINERY_FAILED, STOPPED
from pipelines.side_by_side import OUTCOME

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    for name, folder in (
        ("EVOLAKE_LAKE", "lake"),
        ("DAGSTER_HOME", "home"),
        ("EVOLAKE_TOY_PLANTS", "plants"),
    ):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    with (
        dg.DagsterInstance.get() as instance
    ):  # two processes that make the tables of an empty home at once can collide
        instance.get_runs(limit=1)
        instance.get_dynamic_partitions("")
    return tmp_path


def test_a_forked_process_runs_its_line_and_reports_how_it_ended(place):
    options = ["--as-part", "--cycles", "1", "--definitions", "toy_location.definitions", "--lines"]
    with Forking("toy_location.definitions", place / "forking.stderr") as forking:
        both = [forking.start([*options, line], place / f"{line}.stderr") for line in ("left", "right")]
        reported = [process.stdout.read().splitlines() for process in both]
        assert [process.wait(60) for process in both] == [0, 0]
    assert [lines[-1].startswith(OUTCOME) for lines in reported] == [True, True]
    assert not (place / "forking.stderr").exists()


def test_a_forked_process_ends_with_its_standard_input_or_by_a_signal_and_the_others_do_not_notice(place):
    (place / "plants" / "hang-left-0001").write_text("")
    (place / "plants" / "hang-right-0001").write_text("")
    options = ["--as-part", "--cycles", "1", "--definitions", "toy_location.definitions", "--lines"]
    with Forking("toy_location.definitions", place / "forking.stderr") as forking:
        left, right = (
            forking.start([*options, line], place / f"{line}.stderr") for line in ("left", "right")
        )
        assert [next(process.stdout).startswith("{") for process in (left, right)] == [True, True]
        os.kill(left.pid, signal.SIGKILL)
        assert left.wait(60) == -signal.SIGKILL
        assert right.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            right.wait(0.1)
        right.stdin.close()
        outcome = json.loads(right.stdout.read().splitlines()[-1].removeprefix(OUTCOME))
        # Which reason depends on how far the run was: it may be interrupted before its first step.
        assert outcome["exit_code"] == MACHINERY_FAILED
        assert outcome["reason"] in (STOPPED, "the run failed before its first step")
        # The outcome is what counts; the process itself ends well if the interrupt came within the run, which
        # hands over the outcome.
        assert right.wait(60) in (0, MACHINERY_FAILED)


def test_a_request_to_a_process_that_was_killed_says_so(place):
    with Forking("toy_location.definitions", place / "forking.stderr") as forking:
        child = next(
            process for process in psutil.Process().children() if "pipelines.forking" in process.cmdline()
        )
        child.kill()
        with pytest.raises(MachineryError, match="has ended"):
            forking.start(["--as-part", "--lines", "left"], place / "left.stderr")


def test_forked_processes_end_when_who_asked_for_them_is_killed(place):
    (place / "plants" / "hang-left-0001").write_text("")
    (place / "plants" / "hang-right-0001").write_text("")
    command = [
        sys.executable,
        "-m",
        "pipelines.evolve",
        "--definitions",
        "toy_location.definitions",
        "--lines",
        "left,right",
        "--at-once",
        "2",
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline, started = time.monotonic() + 300, []
        while len(started) < 3:  # the one that forks, and the two lines
            assert time.monotonic() < deadline and process.poll() is None, (
                "it ended early or no line was started"
            )
            started = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.1)
        process.kill()
    _, alive = psutil.wait_procs(started, timeout=120)
    assert alive == []


def test_importing_the_catalogue_starts_no_thread():
    program = """
import os, duckdb, numpy, polars, pyarrow.dataset
before = len(os.listdir("/proc/self/task"))
import evolake.lake.catalogue
print(len(os.listdir("/proc/self/task")) - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


@pytest.mark.parametrize(
    "words", [("pipelines.evolve", "--help"), ("pipelines.forking",)], ids=["a run", "the process that forks"]
)
def test_a_process_that_a_run_spawns_does_not_import_the_module_of_the_run(words: tuple[str, ...]):
    asked = (
        "import multiprocessing.spawn as s\nprint('main:', [name for name in "
        "s.get_preparation_data('worker') if name.startswith('init_main')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-i", "-m", *words],
        input=asked,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1].endswith("main: []"), done.stdout


def test_what_is_imported_before_the_fork_starts_no_thread_of_python_and_opens_no_database():
    program = """
import os, threading
from evolake.project import enter
enter()
from pipelines.forking import preload
preload("pipelines.definitions")
import sys
opened = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{number}")]
print(threading.active_count(), [name for name in opened if name.endswith((".db", ".lock", ".duckdb"))], "great_expectations" in sys.modules)
"""  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1 [] True"
