"""*Re-execute from failure* of a run that was killed at any asset seals what a run without a kill seals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from designs_fixtures import LONG_S, ROOT, Project, open_project
from project_steps import contents, inside, run_here

from evolake.lake import Lake
from evolake.programs.commands.group import FILES
from evolake.report.status import sealed_cycles

pytestmark = [pytest.mark.e2e, pytest.mark.long]
LINE, CYCLE = "programs", "0001"
SMALL = {
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "3",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "2",
    "EVOLAKE_PROGRAMS__ISLANDS": "1",
}
TIMED = {"champion", "champion__evaluations", "decisions", "measured"}
"""Tables that hold times."""
RUN = """
import sys
import dagster as dg
from dagster import DagsterInstance, ReexecutionOptions, reconstructable
sys.path.insert(0, "tests/e2e")
from test_reexecution import cycle_job

with DagsterInstance.get() as instance:
    again = ReexecutionOptions.from_failure(sys.argv[1], instance) if sys.argv[1:] else None
    tags = {"dagster/partition": "0001"}  # which the UI takes over from the run that failed
    done = dg.execute_job(reconstructable(cycle_job), instance, reexecution_options=again, tags=tags)
    sys.exit(0 if done.success else 1)
"""


def cycle_job() -> dg.JobDefinition:
    """The job that is killed, as another process finds it."""
    from pipelines.definitions import defs

    return defs.resolve_job_def(f"{LINE}_cycle")


def start(project: Project, *arguments: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        env=project.environment | {"PYTHONPATH": path},
        cwd=ROOT,
        start_new_session=True,
    )


def killed_at(project: Project, asset: str) -> str:
    """The id of a run of the cycle whose processes were killed when the asset had started."""
    process, until = start(project), time.monotonic() + LONG_S
    with inside(project), dg.DagsterInstance.get() as instance:
        while process.poll() is None and time.monotonic() < until:
            for run in instance.get_runs():
                steps = instance.get_run_step_stats(run.run_id)
                if any(step.step_key == f"{LINE}__{asset}" and step.start_time for step in steps):
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    instance.report_run_failed(run)  # as the sensor `dead_runs` does
                    return run.run_id
            time.sleep(0.02)
    raise AssertionError(f"the run ended with {process.wait()} before {asset} had started")


@pytest.fixture(scope="module")
def seeded(tmp_path_factory) -> Project:
    """A project whose seeds are sealed, and which has not begun cycle 0001."""
    folder = tmp_path_factory.mktemp("again")
    (folder / "fit").mkdir()
    for file, text in FILES.items():
        (folder / "fit" / file).write_text(text)
    made = open_project(folder, **SMALL, EVOLAKE_PROGRAMS__PROJECTS=str(folder / "fit"))
    run_here(made, LINE, 0)
    return made


def copy_of(seeded: Project, folder: Path) -> Project:
    shutil.copytree(seeded.lake, folder / "lake", symlinks=True)
    (folder / "home").mkdir()
    own = {"EVOLAKE_LAKE": str(folder / "lake"), "DAGSTER_HOME": str(folder / "home")}
    with inside(project := Project(folder, seeded.environment | own)), dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions(f"{LINE}_cycle", [CYCLE])
    return project


@pytest.fixture(scope="module")
def whole(seeded, tmp_path_factory) -> dict[tuple[str, str], str]:
    """What a cycle publishes that no process kills."""
    project = copy_of(seeded, tmp_path_factory.mktemp("whole"))
    assert start(project).wait(LONG_S) == 0
    return contents(project, LINE)


@pytest.mark.parametrize(
    "asset", ["projects", "generations", "candidates", "accepted", "champion", "survivors"]
)
def test_a_run_that_was_killed_at_an_asset_is_re_executed_from_failure(seeded, whole, tmp_path, asset):
    project = copy_of(seeded, tmp_path)
    run_id = killed_at(project, asset)
    assert sealed_cycles(Lake(project.lake), LINE) == []
    assert start(project, run_id).wait(LONG_S) == 0
    assert sealed_cycles(Lake(project.lake), LINE) == [CYCLE]
    again = contents(project, LINE)
    different = {name for name, _ in again.items() ^ whole.items() for name in [name[0]]}
    assert different <= TIMED, "the same content, however it came about"
