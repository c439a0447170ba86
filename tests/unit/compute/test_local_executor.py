"""Processes of this machine: what a death costs, and whom."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path

import pytest
from compute_tasks import answer, die, die_once

from evolake.compute.local import DEATHS, LocalExecutor, WorkersLost


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    opened = LocalExecutor(2)
    yield opened
    opened.shutdown()


def test_a_task_whose_process_is_killed_is_done_once_by_another_and_no_other_task_notices(executor, tmp_path):
    flag = tmp_path / "died"
    dying, others = executor.submit(die_once, str(flag)), [executor.submit(answer) for _ in range(6)]
    assert [dying.result(120), *(other.result(120) for other in others)] == ["done"] + [42] * 6
    assert flag.read_text() == "done\n"


def test_a_task_that_every_process_dies_of_is_a_failure_of_the_machinery(executor):
    with pytest.raises(WorkersLost, match="no process that lived") as caught:
        executor.submit(die).result(240)
    assert isinstance(caught.value, BrokenExecutor)
    assert executor.submit(answer).result(120) == 42
    assert DEATHS == 3


def test_what_a_task_raises_is_raised_here_and_order_is_kept(executor):
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 1, 0).result(120)
    assert list(executor.map(abs, [-3, -1, -2])) == [3, 1, 2]


def test_its_processes_end_with_it():
    opened = LocalExecutor(1)
    pid = opened.submit(os.getpid).result(120)
    opened.shutdown()
    assert pid != os.getpid() and not Path("/proc", str(pid)).exists()


ENDLESS = """
import os, time
from evolake.compute.local import LocalExecutor
if __name__ == "__main__":
    opened = LocalExecutor(1)
    print(opened.submit(os.getpid).result(), flush=True)
    opened.submit(time.sleep, 600)
    time.sleep(600)
"""


def test_who_cancels_does_not_wait_for_the_task_under_way():
    opened = LocalExecutor(1)
    pid = opened.submit(os.getpid).result(120)
    endless = opened.submit(time.sleep, 600)
    while not endless.running():
        time.sleep(0.01)
    opened.shutdown(cancel_futures=True)
    with pytest.raises(CancelledError):
        endless.result(0)
    assert not Path("/proc", str(pid)).exists()


def test_no_worker_outlives_a_process_that_is_killed(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS)
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while (
        Path("/proc", str(pid)).exists()
        and "Z" not in Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    ):
        assert time.monotonic() < deadline, "the worker lives on"
        time.sleep(0.05)
