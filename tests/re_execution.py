"""A cycle of a line as a job of its own process, which may be killed, and *Re-execute from failure* of its
run, as the button in the UI does it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import dagster as dg
from designs_fixtures import LONG_S, ROOT, Project
from project_steps import inside

from evolake.lake import Lake
from evolake.report.status import sealed_cycles

T = TypeVar("T")
POLL_S = 0.02
RUN = """
import sys
import dagster as dg
from dagster import DagsterInstance, ReexecutionOptions, reconstructable
from dagster._core.definitions.reconstruct import build_reconstructable_job

line, cycle, *failed = sys.argv[1:]
with DagsterInstance.get() as instance:
    job = build_reconstructable_job("re_execution", "cycle_job", (line,))
    again = ReexecutionOptions.from_failure(failed[0], instance) if failed else None
    tags = {"dagster/partition": cycle}  # which the UI takes over from the run that failed
    sys.exit(0 if dg.execute_job(job, instance, reexecution_options=again, tags=tags).success else 1)
"""


def cycle_job(line: str) -> dg.JobDefinition:
    """The job of a line's cycle, as another process finds it."""
    from pipelines.definitions import defs

    return defs.resolve_job_def(f"{line}_cycle")


def start(project: Project, line: str, cycle: str, *failed: str) -> subprocess.Popen[bytes]:
    """Starts a run of the cycle; with the id of one that failed, that one again from where it failed."""
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-c", RUN, line, cycle, *failed],
        env=project.environment | {"PYTHONPATH": path},
        cwd=ROOT,
        start_new_session=True,
    )


def steps_of(instance: dg.DagsterInstance, run_id: str) -> dict[str, bool]:
    """Step of a run that has started -> whether it succeeded."""
    return {
        step.step_key: step.status is not None and step.status.value == "SUCCESS"
        for step in instance.get_run_step_stats(run_id)
        if step.start_time
    }


def killed_when(project: Project, line: str, cycle: str, seen: Callable[[], T | None]) -> tuple[str, T]:
    """Starts a run of the cycle and kills it and all that it started (SIGKILL) as soon as `seen`, which is
    asked in the project's environment, gives something; (the run's id, that)."""
    process, until = start(project, line, cycle), time.monotonic() + LONG_S
    try:
        with inside(project), dg.DagsterInstance.get() as instance:
            while process.poll() is None and time.monotonic() < until:
                if (found := seen()) is not None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    [run] = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
                    instance.report_run_failed(run)  # as the sensor `dead_runs` does
                    return run.run_id, seen() or found
                time.sleep(POLL_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    raise AssertionError(f"the run ended with {process.returncode} before there was anything to see")


def killed_at(project: Project, line: str, cycle: str, asset: str) -> str:
    """The id of a run of the cycle whose processes were killed when the asset had started."""

    def started() -> bool | None:
        with dg.DagsterInstance.get() as instance:
            runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
            return any(f"{line}__{asset}" in steps_of(instance, run.run_id) for run in runs) or None

    return killed_when(project, line, cycle, started)[0]


def re_executed(project: Project, line: str, cycle: str, run_id: str) -> None:
    """Executes the failed run again from where it failed. Then the cycle is sealed, and no step ran again
    that had succeeded."""
    assert cycle not in sealed_cycles(Lake(project.lake), line)
    assert start(project, line, cycle, run_id).wait(LONG_S) == 0
    assert cycle in sealed_cycles(Lake(project.lake), line)
    with inside(project), dg.DagsterInstance.get() as instance:
        again, *_ = instance.get_runs()  # the newest comes first
        assert again.run_id != run_id
        before, then = steps_of(instance, run_id), steps_of(instance, again.run_id)
    succeeded = {step for step, done in before.items() if done}
    assert not succeeded & then.keys()
    assert all(then.values())


def copy_of(project: Project, line: str, folder: Path, cycle: str) -> Project:
    """A copy of a project's lake, with a Dagster home of its own that knows the cycle."""
    shutil.copytree(project.lake, folder / "lake", symlinks=True)
    (folder / "home").mkdir()
    own = {"EVOLAKE_LAKE": str(folder / "lake"), "DAGSTER_HOME": str(folder / "home")}
    with inside(copy := Project(folder, project.environment | own)), dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions(f"{line}_cycle", [cycle])
    return copy
