"""Folders for a while leave nothing behind: neither at a normal end nor, once another process looks, where
theirs was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evolake import scratch
from evolake.scratch import Scratch, sweep

HOLDS = """
import time
from evolake.scratch import Scratch
with Scratch("run") as folder:
    open(folder + "/proof", "w").close()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_gone_when_its_block_ends_or_raises(place):
    with Scratch("run") as folder:
        assert Path(folder).parent == place and list(place.iterdir()) == [Path(folder)]
    with pytest.raises(ZeroDivisionError), Scratch("run"):
        raise ZeroDivisionError
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_is_in_use_stays(place, monkeypatch):
    killed = subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    assert killed.stdout
    left = Path(killed.stdout.readline().strip())
    other = place / left.name.replace(scratch.HOST, "0" * 6)
    for stays in (other, place / "evolake-run-kept", place / "mine"):
        stays.mkdir()
    (link := place / f"evolake-run-{scratch.HOST}-link").symlink_to(place / "mine")
    with Scratch("run") as own:
        assert sweep(place) == []  # too young, all of them
        monkeypatch.setattr(scratch, "YOUNG_S", -1)
        assert sweep(place) == []  # held
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert left.is_dir() and sweep(place) == [left]
        assert set(place.iterdir()) == {other, place / "evolake-run-kept", place / "mine", link, Path(own)}


def test_the_first_folder_of_a_process_sweeps(place, monkeypatch):
    monkeypatch.setattr(scratch, "YOUNG_S", -1)
    (left := place / f"evolake-proof-{scratch.HOST}-abc").mkdir()
    with Scratch("run") as first:
        assert not left.exists()
        left.mkdir()
        with Scratch("run") as second:
            assert set(place.iterdir()) == {left, Path(first), Path(second)}
