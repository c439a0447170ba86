"""*Re-execute from failure* of a run that was killed at any asset seals what a run without a kill seals."""

from __future__ import annotations

import pytest
from designs_fixtures import LONG_S, Project, open_project
from project_steps import contents, run_here
from re_execution import copy_of, killed_at, re_executed, start

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
    "EVOLAKE_PROGRAMS__BASELINE_SHARE": "0",  # what a dumb search finds in so many seconds differs
}
TIMED = {"champion", "champion__evaluations", "decisions", "measured"}
"""Tables that hold times."""


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


@pytest.fixture(scope="module")
def whole(seeded, tmp_path_factory) -> dict[tuple[str, str], str]:
    """What a cycle publishes that no process kills."""
    project = copy_of(seeded, LINE, tmp_path_factory.mktemp("whole"), CYCLE)
    assert start(project, LINE, CYCLE).wait(LONG_S) == 0
    return contents(project, LINE)


@pytest.mark.parametrize("asset", ["projects", "generations", "accepted", "champion", "survivors"])
def test_a_run_that_was_killed_at_an_asset_is_re_executed_from_failure(seeded, whole, tmp_path, asset):
    project = copy_of(seeded, LINE, tmp_path, CYCLE)
    re_executed(project, LINE, CYCLE, killed_at(project, LINE, CYCLE, asset))
    assert sealed_cycles(Lake(project.lake), LINE) == [CYCLE]
    again = contents(project, LINE)
    different = {name for name, _ in again.items() ^ whole.items() for name in [name[0]]}
    assert different <= TIMED, "the same content, however it came about"
