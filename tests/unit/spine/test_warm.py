"""What one run of a process leaves warm for the next: the same jails and workers, where nothing is under way
and the next wants the same."""

import os
import time
from typing import cast

import dagster as dg
import psutil

from resources import warm
from resources.compute import close_executor, run_executor
from resources.jail import JailResource

CONTEXT = cast("dg.InitResourceContext", None)
"""What a teardown does not look at."""


def test_a_run_has_the_workers_of_the_one_before_if_it_wants_as_many():
    with warm.between_runs():
        pids = []
        for run_id, workers in (("a", 1), ("b", 1), ("c", 2)):
            pids.append(run_executor(run_id, workers).submit(os.getpid).result())
            close_executor(run_id)
        assert pids[0] == pids[1] != pids[2]
        assert not psutil.pid_exists(pids[0])
    assert not psutil.pid_exists(pids[2])


def test_workers_with_a_task_under_way_are_stopped_with_their_run():
    with warm.between_runs():
        executor = run_executor("a", 1)
        executor.submit(time.sleep, 0.5)
        waiting = executor.submit(os.getpid)
        close_executor("a")
        assert waiting.cancelled()
        assert run_executor("b", 1) is not executor
        close_executor("b")


def test_a_run_has_the_jails_of_the_one_before_and_every_candidate_is_a_process_of_its_own():
    source = (
        "import builtins\ndef f():\n    builtins.left = getattr(builtins, 'left', 0) + 1\n    return "
        "builtins.left"
    )
    from evolake.jail import GENERIC_DRIVER

    with warm.between_runs():
        pools = []
        for _ in range(2):
            resource = JailResource(preload=[], workers=1)
            pools.append(resource.open())
            assert pools[-1].call(GENERIC_DRIVER, source, {"function": "f"}).value == 1
            resource.teardown_after_execution(CONTEXT)
        assert pools[0] is pools[1]
    assert not pools[0].idle
