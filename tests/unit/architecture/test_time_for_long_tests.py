"""After the time that EVOLAKE_TESTS_UNTIL names, files marked `long` are not started but listed; other tests
run."""

import os
import subprocess
import sys
from pathlib import Path

import durations
import pytest

ROOT = Path(__file__).parents[3]
LONG = "tests/unit/docs/test_site.py"
QUICK = "tests/unit/stats/test_power_law.py"


@pytest.mark.parametrize(
    "workers",
    [(), ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")],
    ids=["one process", "two workers"],
)
def test_long_files_are_left_out_by_name_and_others_run(workers):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "EVOLAKE_TESTS_UNTIL"))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, LONG, QUICK]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**environment, "EVOLAKE_TESTS_UNTIL": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    listed = done.stdout.partition("not started: the time for long tests is used up")[2]
    assert LONG in listed and QUICK not in listed
    assert " passed" in done.stdout and " skipped" not in done.stdout


def test_every_file_of_tests_was_measured_and_no_other_is_in_the_table():
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    measured = set(durations.read())
    do = "measure them: .venv/bin/python -m pytest --write-durations FILE..."
    assert sorted(file for file in files - measured if not file.startswith("tests/attacks/")) == [], do
    assert sorted(measured - files) == []
