"""Each line of several runs in a process of its own: one that is killed costs no other its cycle, and none
outlives the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import psutil
import pytest

from evolake.lake import Lake
from pipelines.events import Event
from pipelines.outcome import MACHINERY_FAILED
from pipelines.side_by_side import SideBySide

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


def test_a_line_whose_process_is_killed_fails_and_the_other_does_not_notice(place):
    (place / "plants" / "hang-left-0001").write_text("")

    def kill_left(event: Event) -> None:
        if (event.line, event.kind, event.what) == ("left", "began", "cycle 1 of 1"):
            [left] = [child for child in psutil.Process().children() if "left" in child.cmdline()]
            os.kill(left.pid, signal.SIGKILL)

    options = ["--cycles", "1", "--definitions", "toy_location.definitions"]
    both = SideBySide(options, 2, {}, kill_left, place / "logs")
    outcome = both.run(["left", "right"])
    assert outcome.sealed == {"left": [], "right": ["0001"]}
    assert outcome.exit_code == MACHINERY_FAILED
    assert outcome.reason.startswith("left: its process ended with -9 before its cycles did")
    assert list((place / "logs").iterdir()) == []
    children = psutil.Process().children()
    assert not [child for child in children if "toy_location.definitions" in child.cmdline()]


@pytest.mark.parametrize("lines", ["left", "left,right"])
def test_the_run_ends_when_the_command_that_started_it_is_killed(place, lines):
    """The command starts a process, and that one the lines: none is left, and the lake's lock is free."""
    for line in lines.split(","):
        (place / "plants" / f"hang-{line}-0001").write_text("")
    command = [
        sys.executable,
        "-c",
        "import subprocess, sys\nfrom evolake import project\nsubprocess.run([*project.command("
        f"'pipelines.evolve'), '--definitions', 'toy_location.definitions', '--lines', '{lines}'])",
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline, started = time.monotonic() + 300, []
        while len(started) < len(lines.split(",")) or not Lake(place / "lake").line_holder("left"):
            assert time.monotonic() < deadline and process.poll() is None, "no line was started"
            started = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.1)
        process.kill()
    _, alive = psutil.wait_procs(started, timeout=30)
    assert alive == []
    with Lake(place / "lake").line_lock("left", run_id="next"):
        pass


def test_a_process_that_a_run_spawns_does_not_import_the_module_of_the_run():
    asked = (
        "import multiprocessing.spawn as s\nprint('main:', [name for name in "
        "s.get_preparation_data('worker') if name.startswith('init_main')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-i", "-m", "pipelines.evolve", "--help"],
        input=asked,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1].endswith("main: []"), done.stdout
